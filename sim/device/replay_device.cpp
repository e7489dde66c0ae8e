#include "sim/device/replay_device.hpp"

#include <algorithm>

namespace trocar {
namespace {

constexpr double kSameTime = 1e-6;  // s

class ReplayDevice final : public Device {
 public:
  explicit ReplayDevice(Trajectory trajectory) : trajectory_(std::move(trajectory)) {}

  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    if (!started_) start_ = clock.time;
    started_ = true;
    const TrajectoryRow row = row_at(trajectory_, trajectory_.rows.front().time + (clock.time - start_));
    return {row.pivot, row.tip, row.roll_deg, row.grip, row.energy};
  }

 private:
  Trajectory trajectory_;
  double start_ = 0.0;  // s
  bool started_ = false;
};

}  // namespace

TrajectoryRow row_at(const Trajectory& trajectory, double time) {
  const auto& rows = trajectory.rows;
  const auto later = std::upper_bound(rows.begin(), rows.end(), time + kSameTime,
                                      [](double t, const TrajectoryRow& row) { return t < row.time; });
  if (later == rows.begin()) return rows.front();
  const TrajectoryRow& before = *(later - 1);
  if (later == rows.end() || time <= before.time + kSameTime) return before;
  const double share = (time - before.time) / (later->time - before.time);
  TrajectoryRow row = before;
  row.time = time;
  row.pivot += share * (later->pivot - before.pivot);
  row.tip += share * (later->tip - before.tip);
  row.roll_deg += share * (later->roll_deg - before.roll_deg);
  row.grip += share * (later->grip - before.grip);
  return row;
}

std::unique_ptr<Device> make_replay_device(Trajectory trajectory) {
  return std::make_unique<ReplayDevice>(std::move(trajectory));
}

}  // namespace trocar
