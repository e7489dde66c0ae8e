#include "sim/device/script_device.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr double kTurn = 6.283185307179586;

class TrajectoryDevice final : public Device {
 public:
  explicit TrajectoryDevice(Trajectory trajectory) : trajectory_(std::move(trajectory)) {}
  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    const std::size_t row = std::min<std::size_t>(clock.frame, trajectory_.rows.size() - 1);
    const TrajectoryRow& r = trajectory_.rows[row];
    return {r.pivot, r.tip, r.roll_deg, r.grip, r.energy};
  }

 private:
  Trajectory trajectory_;
};

// Returns a smooth step: 0 before `from`, 1 after `to`.
double eased(double t, double from, double to) {
  const double s = std::clamp((t - from) / (to - from), 0.0, 1.0);
  return s * s * (3.0 - 2.0 * s);
}

class ScriptDevice final : public Device {
 public:
  explicit ScriptDevice(const ScriptPath& path) : path_(path) {
    along_ = glm::normalize(path.target - path.pivot);
    const glm::dvec3 up = std::abs(along_.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
    right_ = glm::normalize(glm::cross(along_, up));
    up_ = glm::cross(right_, along_);
  }

  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    const double share = clock.time / path_.period, t = share - std::floor(share);
    if (path_.kind == "press") return press(t);
    if (path_.kind == "pull") return pull(t);
    if (path_.kind == "burn") return burn(t);
    return explore(kTurn * share);
  }

 private:
  DevicePose at(const glm::dvec3& offset, double grip, Diathermy energy = {}) const {
    return {path_.pivot, path_.target + offset, 0.0, grip, energy};
  }

  // The frequencies along the three directions differ, so the path takes long to repeat.
  DevicePose explore(double turn) const {
    const glm::dvec3 tip = path_.target +
                           path_.reach * (right_ * elementary::sin(turn) + up_ * 0.6 * elementary::sin(1.618 * turn)) +
                           path_.dip * along_ * elementary::sin(0.732 * turn - 0.25 * kTurn);
    return {path_.pivot, tip, 40.0 * elementary::sin(0.5 * turn), 0.75 + 0.25 * elementary::cos(turn)};
  }

  DevicePose press(double t) const {
    const double down = eased(t, 0.05, 0.45) - eased(t, 0.6, 0.95);
    return at(along_ * (down * (path_.reach + path_.dip) - path_.reach), 0.0);
  }

  DevicePose pull(double t) const {
    const double down = eased(t, 0.02, 0.2) - eased(t, 0.85, 0.98), back = eased(t, 0.35, 0.6) - eased(t, 0.75, 0.85);
    const double closed = eased(t, 0.22, 0.3) - eased(t, 0.72, 0.76);
    const double depth = (down - 1.0) * path_.reach + down * 0.002 - back * path_.reach;
    return at(along_ * depth, 1.0 - closed);
  }

  DevicePose burn(double t) const {
    const double down = eased(t, 0.02, 0.15) - eased(t, 0.84, 0.92);
    const double across = 2.0 * (eased(t, 0.2, 0.8) - eased(t, 0.9, 1.0)) - 1.0;
    const double depth = (down - 1.0) * path_.reach + 0.3 * down * path_.dip;
    return at(along_ * depth + right_ * (0.6 * across * path_.reach), 0.0,
              t > 0.18 && t < 0.82 ? Diathermy::Cut : Diathermy::Off);
  }

  ScriptPath path_;
  glm::dvec3 along_, right_, up_;
};

}  // namespace

std::unique_ptr<Device> make_trajectory_device(Trajectory trajectory) {
  return std::make_unique<TrajectoryDevice>(std::move(trajectory));
}

std::unique_ptr<Device> make_script_device(const ScriptPath& path) { return std::make_unique<ScriptDevice>(path); }

}  // namespace trocar
