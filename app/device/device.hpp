// What moves an instrument: one interface for the mouse, the haptic stub, scripts and recorded trajectories.
// A device gives a pose and feels a force. Units: metres, seconds, newtons.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>

#include "geometry/tool_volume.hpp"

namespace trocar {

// A tick of the session. What moves by itself reads `time`, and so do scores of scripts; a live device's attempt is
// scored by `wall`.
struct FrameClock {
  std::uint64_t frame = 0;  // number of the tick
  double time = 0.0;        // s   of ticks since the start of the session
  double wall = 0.0;        // s   that a person in front of the picture has had since the start, pauses left out
  double lost = 0.0;        // s   of ticks that the machine was too slow for, so far
};

struct DevicePose {
  glm::dvec3 pivot{0.0}, tip{0.0};  // m, world
  double roll_deg = 0.0;            // degrees, clockwise as seen from the trocar
  double grip = 1.0;                // 0 closed .. 1 open
  bool energy = false;              // the pedal is down
};

// How a device does. Stale: nothing new came for more than 50 ms; Lost: it is gone. The instrument freezes, its force
// is zero, and both recover as soon as the device does.
enum class DeviceHealth { Good, Stale, Lost };

// What the tissue did to the instrument in a frame.
struct Felt {
  glm::vec3 force{0.f};  // N
  glm::dvec3 tip{0.0};   // m   where the tip was when the tissue answered
  double time = 0.0;     // s   of the frame, FrameClock::time
};

class Device {
 public:
  virtual ~Device() = default;
  // Called once a frame by the session's thread.
  virtual DevicePose pose(const FrameClock& clock) = 0;
  // Of the pose given last; a device that cannot be lost is always good. Never blocks, as pose() never does.
  virtual DeviceHealth health() const { return DeviceHealth::Good; }
  // The pose is that of the tick alone (a script, a recorded motion): a pause does not move it.
  virtual bool follows_ticks() const { return false; }
  // The session stood still, and the hand may have moved on meanwhile.
  virtual void suspend() {}
  // Called once a frame, after it, by the session's thread; zero while the instrument is frozen.
  virtual void feel(const Felt& felt) { static_cast<void>(felt); }
};

}  // namespace trocar
