// The endoscope: a rigid rod through a port of its own, a camera and a lamp at its tip, that looks along the rod (0
// degrees) or askew (30 degrees). Turning the light post (spin) swings an oblique view about the rod; the camera head
// is held upright, so the picture stays level. Maths only.
//   view = cos(angle) along + sin(angle) (cos(spin) up0 + sin(spin) right0),   right0 = along x world up, up0 = right0
//   x along
// Spin 0 looks towards the head of the picture, positive spin clockwise as the picture shows it.
// Units: metres, degrees, world frame.   Tested in tests/app/scope_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

struct ScopePose {
  glm::dvec3 port{0.0}, eye{0.0, 0.0, -0.2};  // m     where it enters, its tip
  double spin_deg = 0.0;                      // deg   of the light post
  double angle_deg = 0.0;                     // deg   0 or 30: of the view against the rod
  double field_of_view_deg = 60.0;            // deg   of the undistorted picture, vertical
};

// Where the scope looks: three orthonormal directions.
struct ScopeAxes {
  glm::dvec3 forward{0.0, 0.0, -1.0}, right{1.0, 0.0, 0.0}, up{0.0, 1.0, 0.0};
};
// A rod along the world's up (+y) takes -z for it.
ScopeAxes axes_of(const ScopePose& pose);

// The scope whose view from `eye` goes towards `target`; as near as a level picture allows where that is within 32
// degrees of straight up or down. `rod`: from port to eye, m.
ScopePose scope_looking_at(const glm::dvec3& eye, const glm::dvec3& target, double angle_deg, double spin_deg,
                           double rod);

}  // namespace trocar
