#include "app/device/script_device.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr double kTurn = 6.283185307179586;

class TrajectoryDevice final : public Device {
 public:
  explicit TrajectoryDevice(Trajectory trajectory) : trajectory_(std::move(trajectory)) {}
  DevicePose pose(const FrameClock& clock) override {
    const std::size_t row = std::min<std::size_t>(clock.frame, trajectory_.rows.size() - 1);
    const TrajectoryRow& r = trajectory_.rows[row];
    return {r.pivot, r.tip, r.roll_deg, r.grip};
  }

 private:
  Trajectory trajectory_;
};

class ScriptDevice final : public Device {
 public:
  explicit ScriptDevice(const ScriptPath& path) : path_(path) {
    along_ = glm::normalize(path.target - path.pivot);
    const glm::dvec3 up = std::abs(along_.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
    right_ = glm::normalize(glm::cross(along_, up));
    up_ = glm::cross(right_, along_);
  }

  DevicePose pose(const FrameClock& clock) override {
    const double turn = kTurn * clock.time / path_.period;
    // Different rates along the three directions: the path does not close for a long while.
    const glm::dvec3 tip = path_.target + path_.reach * (right_ * std::sin(turn) + up_ * 0.6 * std::sin(1.618 * turn)) +
                           path_.dip * along_ * std::sin(0.732 * turn - 0.25 * kTurn);
    return {path_.pivot, tip, 40.0 * std::sin(0.5 * turn), 0.5 + 0.5 * std::cos(turn)};
  }

 private:
  ScriptPath path_;
  glm::dvec3 along_, right_, up_;
};

}  // namespace

std::unique_ptr<Device> make_trajectory_device(Trajectory trajectory) {
  return std::make_unique<TrajectoryDevice>(std::move(trajectory));
}

std::unique_ptr<Device> make_script_device(const ScriptPath& path) { return std::make_unique<ScriptDevice>(path); }

}  // namespace trocar
