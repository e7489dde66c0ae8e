// Provides instruments and devices that exercise every input of a session: joints, handles, pedals and failures.
#pragma once

#include <cmath>
#include <random>

#include "sim/device/device.hpp"
#include "sim/scene/scene.hpp"

namespace trocar::test {

// Instruments around the ball of tests/sim/ball_scene.hpp.
inline constexpr const char* kFourKinds = R"(
[[instrument]]
name = "grasper"
kind = "grasper"
pivot_mm = [60, 0, 150]
tip_mm = [20, 0, 44]
radius_mm = 2.5
[[instrument]]
name = "hook"
kind = "hook"
pivot_mm = [-60, 0, 150]
tip_mm = [-20, 0, 46]
radius_mm = 2.5
[[instrument]]
name = "suction"
kind = "suction"
pivot_mm = [0, -60, 150]
tip_mm = [0, -25, 44]
radius_mm = 2.5
)";

// Moves about its start, opens and closes the handle, presses both pedals, and fails now and then.
class RestlessDevice final : public Device {
 public:
  RestlessDevice(const InstrumentScene& scene, unsigned seed) : scene_(scene), random_(seed) {}
  DevicePose pose(const FrameClock& clock) override {
    const double t = clock.time, phase = scene_.pivot.x;
    if (random_() % 40 == 0) fails_ = 6;
    if (fails_ > 0) --fails_;
    DevicePose pose{scene_.pivot, scene_.tip, 40.0 * std::sin(t + phase), 0.5 + 0.5 * std::sin(5.0 * t + phase)};
    pose.tip +=
        glm::dvec3(0.012 * std::sin(3.0 * t + phase), 0.010 * std::cos(2.0 * t), 0.008 * std::sin(7.0 * t) - 0.008);
    pose.energy = static_cast<Diathermy>(static_cast<int>(t * 4.0) % 3);
    pose.grip_force = 0.5 + 0.5 * std::cos(t);
    return pose;
  }
  DeviceHealth health() const override { return fails_ > 3 ? DeviceHealth::Stale : DeviceHealth::Good; }

 private:
  InstrumentScene scene_;
  std::mt19937 random_;
  int fails_ = 0;
};

}  // namespace trocar::test
