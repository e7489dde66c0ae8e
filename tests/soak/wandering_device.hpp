// Moves an instrument at random: between targets on and in the organs at 20 to 400 mm/s, through the air or, less
// often, straight through the tissue, jaws and pedal at random, with occasional failures (stale, lost, a NaN pose). For
// the last frames it withdraws. The same seed gives the same motion. Units: metres, seconds.
#pragma once

#include <random>
#include <vector>

#include "sim/device/device.hpp"

namespace trocar::soak {

struct WanderParams {
  std::uint64_t seed = 1;
  bool gentle = false;
  std::uint64_t withdraw_from = 0;     // frame
  double failure_chance = 1.0 / 2000;  // 1  in each frame
  int most_grips = 60;                 // jaws close fully at so many targets, then only halfway: blades do not meet
};

class WanderingDevice final : public Device {
 public:
  // Makes the device. `targets`: [target] m, positions between which the tip moves. `start`: the pose in which it
  // begins and to which it withdraws.
  WanderingDevice(const DevicePose& start, std::vector<glm::vec3> targets, const WanderParams& params);

  DevicePose pose(const FrameClock& clock) override;
  DeviceHealth health() const override { return health_; }

 private:
  double uniform(double low, double high);
  void choose_next();
  void withdraw();
  void fail_or_recover();

  DevicePose start_, pose_;
  std::vector<glm::vec3> targets_;
  WanderParams params_;
  std::mt19937_64 random_;
  std::vector<glm::dvec3> goals_;  // m  the last one is the next
  double speed_ = 0.1;             // m/s
  double last_time_ = 0.0;
  int wait_ = 0, failing_ = 0;  // frames
  int grips_ = 0;
  bool nonsense_ = false;
  DeviceHealth health_ = DeviceHealth::Good;
};

}  // namespace trocar::soak
