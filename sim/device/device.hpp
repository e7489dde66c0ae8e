// Defines the interface of every input device that moves an instrument or the scope: mouse, gamepad, SpaceMouse,
// tracker, haptic stub, script, recorded trajectory. A device returns a pose and receives a force.
// Units: metres, seconds, newtons.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>

#include "geometry/tool_volume.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

// A tick of the session. Scripts and recorded motions follow `time`, and their scores use it; an attempt with a live
// device is scored by `wall`.
struct FrameClock {
  std::uint64_t frame = 0;  // number of the tick
  double time = 0.0;        // s   simulated time since the start of the session
  double wall = 0.0;        // s   real time since the start, without pauses
  double lost = 0.0;        // s   simulated time skipped so far because the machine was too slow
};

struct DevicePose {
  glm::dvec3 pivot{0.0}, tip{0.0};  // m, world
  double roll_deg = 0.0;            // degrees, clockwise as seen from the trocar
  double grip = 1.0;                // 0 closed .. 1 open
  Diathermy energy = {};            // the pedal that is down
  double grip_force = 1.0;          // 1   force of the hand on the handle, relative to a firm grip, 0..1
};

// State of a device. Stale: no new data for more than 50 ms, or an impossible pose; Lost: disconnected. While a device
// is not Good, its instrument freezes and its force is zero; both recover with the device.
enum class DeviceHealth { Good, Stale, Lost };

// The force of the tissue on the instrument in a frame, from all contacts (sim/device/haptics.hpp).
struct Felt {
  glm::vec3 force{0.f};  // N    at the tip, with the same effect about the trocar
  glm::dvec3 tip{0.0};   // m    position of the tip for which the force was computed
  double time = 0.0;     // s    FrameClock::time of the frame
  float twist = 0.f;     // N m  about the shaft, positive in the direction of roll_deg
};

class Device {
 public:
  virtual ~Device() = default;
  // Returns the pose. The session's thread calls this function once per frame. It must not block.
  virtual DevicePose pose(const FrameClock& clock) = 0;
  // Returns the health of the last returned pose; a device that cannot fail is always Good. It must not block.
  virtual DeviceHealth health() const { return DeviceHealth::Good; }
  // Returns true when the pose depends only on the tick (a script, a recorded motion): a pause does not change it.
  virtual bool follows_ticks() const { return false; }
  // The session calls this function after a pause, during which the user may have moved the device.
  virtual void suspend() {}
  // Receives the force on the instrument. The session's thread calls this function once per frame, after the frame; the
  // force is zero while the instrument is frozen.
  virtual void feel(const Felt& felt) { static_cast<void>(felt); }
};

}  // namespace trocar
