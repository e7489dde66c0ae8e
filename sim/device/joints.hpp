// Computes the kinematics of a laparoscopic instrument about its trocar, the remote centre of motion (RCM):
//   T = T_rcm * R(tilt, pan, spin) * translate(0, 0, depth),   R = Rx(tilt) Ry(pan) Rz(spin)
// The aperture of the jaws is the fifth joint.
// T_rcm: origin at the trocar, +z the instrument's axis into the body at zero pan and tilt, +y the direction normal to
// z that is nearest to the head (world +y; world +z when z is parallel to world y), +x = y cross z. Positive tilt
// swings the tip towards -y (the feet), positive pan towards +x; spin is clockwise as seen from the trocar.
// Source: the RCM mechanism as in Taylor et al., "A telerobotic assistant for laparoscopic surgery", IEEE EMB 1995.
// Units: metres, degrees.   Tested in tests/sim/device/joints_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "sim/device/device.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

struct Joints {
  double pan_deg = 0.0, tilt_deg = 0.0, spin_deg = 0.0;
  double depth = 0.1;      // m    distance of the tip beyond the trocar
  double grip_deg = 60.0;  // deg  aperture of the jaws
};

struct RemoteCentre {
  glm::dvec3 pivot{0.0};
  glm::dmat3 frame{1.0};  // columns x, y, z of T_rcm in the world
};

// Makes the frame. `axis` must not be zero and need not be a unit vector.
RemoteCentre remote_centre(const glm::dvec3& pivot, const glm::dvec3& axis);

// Returns T in the world frame: its origin lies at the tip, +z runs along the shaft away from the trocar, +x and +y
// turn with the spin. That of a pose uses the pose's own pivot.
glm::dmat4 matrix_of(const RemoteCentre& centre, const Joints& joints);
glm::dmat4 matrix_of(const RemoteCentre& centre, const DevicePose& pose);

// Returns the direction of the shaft from the trocar to the tip, a unit vector.
glm::dvec3 direction_of(const RemoteCentre& centre, const Joints& joints);
// Returns the joints with pan and tilt such that the shaft points in this direction, which need not be a unit vector.
Joints aimed(const RemoteCentre& centre, const Joints& joints, const glm::dvec3& direction);

DevicePose pose_of(const RemoteCentre& centre, const JointLimits& limits, const Joints& joints);
// Computes the joints of a pose: pan within +-90, tilt within +-180 degrees. It uses the pose's own pivot, so depth is
// the length of the shaft.
Joints joints_of(const RemoteCentre& centre, const JointLimits& limits, const DevicePose& pose);

// Clamps each joint to its limits. A joint that is not finite takes the clamped value of `fallback`. Spin has no
// limits.
Joints limited(const JointLimits& limits, const Joints& joints, const Joints& fallback = {});

}  // namespace trocar
