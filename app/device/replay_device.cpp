#include "app/device/replay_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/record/recording.hpp"
#include "geometry/error.hpp"

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

std::size_t tool_number(const Recording& recording, const std::filesystem::path& file, const std::string& tool,
                        const std::string& fallback) {
  const std::vector<std::string>& tools = recording.tools();
  const auto found = std::find(tools.begin(), tools.end(), tool.empty() ? fallback : tool);
  if (found != tools.end()) return static_cast<std::size_t>(found - tools.begin());
  if (tool.empty() && tools.size() == 1) return 0;
  throw InputError(fmt::format("{}: the recording has no instrument '{}'; set source to one of: {}", file.string(),
                               tool.empty() ? fallback : tool, fmt::join(tools, ", ")));
}

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

Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback) {
  if (file.extension() != ".h5") return load_trajectory(file);
  const Recording recording(file);
  const std::size_t number = tool_number(recording, file, tool, fallback);
  Trajectory motion;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const ToolPose pose = recording.pose(frame, number);
    const glm::dvec2 roll_grip = recording.roll_grip(frame, number);
    motion.rows.push_back(
        {recording.times()[frame], pose.pivot, pose.tip, roll_grip.x, roll_grip.y, recording.energy(frame, number)});
  }
  return motion;
}

Trajectory load_scope_motion(const std::filesystem::path& file) {
  const Recording recording(file);
  Trajectory motion;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const auto pose = recording.scope(frame);
    if (!pose)
      throw InputError(
          fmt::format("{}: the recording has no motion of the scope; make a new recording", file.string()));
    motion.rows.push_back({recording.times()[frame], pose->port, pose->eye, pose->spin_deg, 1.0, false});
  }
  return motion;
}

}  // namespace trocar
