// What stands between a device and the session: after a device was lost, stale or gave nonsense, its instrument is not
// where the hand is by now. It does not jump there, which would fling the tissue: it goes there from where it froze,
//   pose = (1 - s) frozen + s given,   s = 0 .. 1 in a time of max(gap / tip speed, turn / roll speed),
// direction of the shaft, depth, roll, jaws each by itself, while the hand may go on moving. Energy stays off on the
// way, and until the pedal has been let go: a pedal held through a failure burns nothing.
// A pause is such a failure for a device that a hand moves: it is not read meanwhile. One that follows the session's
// ticks has not moved.
// A device that never failed passes unchanged, bit for bit. While it fails, its pose passes unchanged too: the session
// sees it, freezes the instrument and feeds no force.   Tested in tests/app/device_guard_test.cpp
#pragma once

#include <memory>

#include "app/device/device.hpp"

namespace trocar {

struct GuardParams {
  double tip_speed = 0.10;        // m/s    of the way back to the hand, > 0
  double roll_speed_deg = 180.0;  // deg/s  > 0
  double longest_way_back = 2.0;  // s      however far it is
};

class DeviceGuard final : public Device {
 public:
  // `start`: where the instrument is before the device gave anything.
  DeviceGuard(std::unique_ptr<Device> device, const DevicePose& start, const GuardParams& params = {});

  DevicePose pose(const FrameClock& clock) override;
  DeviceHealth health() const override { return device_->health(); }
  bool follows_ticks() const override { return device_->follows_ticks(); }
  void suspend() override;
  void feel(const Felt& felt) override { device_->feel(felt); }
  // On its way from where it froze to where the hand is.
  bool returning() const { return returning_; }

 private:
  DevicePose way_back(const DevicePose& given, double time);
  bool pedal(bool pressed);

  GuardParams params_;
  std::unique_ptr<Device> device_;
  DevicePose last_;                      // that the instrument took
  DevicePose frozen_;                    // where the way back began
  double since_ = 0.0, duration_ = 0.0;  // s
  bool failed_ = false, returning_ = false, pedal_blocked_ = false;
};

// A pose that an instrument can take: everything finite, the tip not in the trocar.
bool usable(const DevicePose& pose);

}  // namespace trocar
