// What moves an instrument: one interface for the mouse, the haptic stub, scripts and recorded trajectories.
// A device gives a pose and feels a force. Units: metres, seconds, newtons.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>

#include "geometry/tool_volume.hpp"

namespace trocar {

struct FrameClock {
  std::uint64_t frame = 0;
  double time = 0.0;  // s since the start of the session
};

struct DevicePose {
  glm::dvec3 pivot{0.0}, tip{0.0};  // m, world
  double roll_deg = 0.0;            // degrees
  double grip = 1.0;                // 0 closed .. 1 open
};

class Device {
 public:
  virtual ~Device() = default;
  // Called once a frame by the session's thread.
  virtual DevicePose pose(const FrameClock& clock) = 0;
  // The force the tissue exerts on the instrument, after the frame that `clock` names.
  virtual void feel(const glm::vec3& force, const FrameClock& clock) {
    static_cast<void>(force);
    static_cast<void>(clock);
  }
};

}  // namespace trocar
