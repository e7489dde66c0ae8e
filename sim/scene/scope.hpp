// Models the endoscope: a rigid rod through its own port, with a camera and a lamp at its tip. The scope looks along
// the rod (0 degrees) or obliquely (30 degrees). Turning the light post (spin) rotates an oblique view about the rod;
// the camera head is held upright, so the picture stays level. This file contains only geometry.
//   view = cos(angle) along + sin(angle) (cos(spin) up0 + sin(spin) right0),   right0 = along x world up, up0 = right0
//   x along
// Spin 0 tilts the view towards the top of the picture; positive spin is clockwise in the picture.
// Units: metres, degrees, world frame.   Tested in tests/sim/scope_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

struct ScopePose {
  glm::dvec3 port{0.0}, eye{0.0, 0.0, -0.2};  // m     entry point, tip
  double spin_deg = 0.0;                      // deg   of the light post
  double angle_deg = 0.0;                     // deg   0 or 30: between view and rod
  double field_of_view_deg = 60.0;            // deg   of the undistorted picture, vertical
};

// The scope's view directions, orthonormal.
struct ScopeAxes {
  glm::dvec3 forward{0.0, 0.0, -1.0}, right{1.0, 0.0, 0.0}, up{0.0, 1.0, 0.0};
};
// Computes the directions. When the rod is parallel to the world's up (y), -z is used as up.
ScopeAxes axes_of(const ScopePose& pose);

// Returns the scope at `eye` that looks at `target`; within 32 degrees of vertical, as closely as a level picture
// allows. `rod`: from port to eye, m.
ScopePose scope_looking_at(const glm::dvec3& eye, const glm::dvec3& target, double angle_deg, double spin_deg,
                           double rod);

}  // namespace trocar
