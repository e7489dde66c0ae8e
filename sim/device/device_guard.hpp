// Stands between a device and the session, and is the only place that decides whether a pose can be taken. While a
// device is lost or stale or returns an unusable pose, its instrument freezes. When the device recovers, its pose may
// be far from the frozen pose. A jump would fling the tissue, so the guard moves the instrument smoothly from the
// frozen pose to the pose of the device:
//   pose = (1 - s) frozen + s given,   s = 0 .. 1 in the time max(gap / tip speed, turn / roll speed),
// at least 1 ms and at most `longest_way_back`. Direction of the shaft, depth, roll and jaws are interpolated
// separately, and the device may go on moving. Diathermy stays off during the return and until the pedal has been
// released, so a pedal held down during a failure burns nothing.
// A pause counts as a failure for a live device, because the session does not read it during a pause. A device that
// follows the session's ticks has not moved.
// The guard returns the poses of a device that never failed unchanged, bit for bit.
// Units: metres, seconds, degrees.   Tested in tests/sim/device/device_guard_test.cpp
#pragma once

#include <memory>
#include <optional>

#include "sim/device/device.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

// What the guard remembers from one frame to the next.
struct GuardState {
  DevicePose last;                     // last pose of the instrument
  DevicePose frozen;                   // start of the return
  double since = 0.0, duration = 0.0;  // s, start and duration of the return
  bool failed = false, returning = false, pedal_blocked = false;
};

class DeviceGuard {
 public:
  // `start`: pose of the instrument before the first pose of the device.
  DeviceGuard(std::unique_ptr<Device> device, const DevicePose& start, const GuardParams& params = {});

  // Reads the device, once per frame. Returns the pose that the instrument takes, to which a valid step leads from its
  // last pose (step_fault); empty while the device fails: the instrument keeps its last pose and feels no force.
  std::optional<DevicePose> read(const FrameClock& clock);
  DeviceHealth health() const { return device_->health(); }
  // Call after a pause, during which the user may have moved the device.
  void suspend();
  void feel(const Felt& felt) { device_->feel(felt); }
  // True while the instrument moves from the frozen pose to the device's pose.
  bool returning() const { return state_.returning; }
  const GuardState& state() const { return state_; }
  void set_state(const GuardState& state) { state_ = state; }

 private:
  bool can_take(const DevicePose& pose) const;
  void fail();
  void begin_return(const DevicePose& given, double time);
  DevicePose return_pose(const DevicePose& given, double time);
  Diathermy pedal(Diathermy pressed);

  GuardParams params_;
  std::unique_ptr<Device> device_;
  GuardState state_;
};

// Returns true when an instrument can take this pose: all numbers are finite and within 999 m of the origin along each
// axis, and the tip is not in the trocar.
bool usable(const DevicePose& pose);

}  // namespace trocar
