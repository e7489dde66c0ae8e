// Models the endoscope: a rigid rod through its own port, with a camera and a lamp at its tip. The scope looks along
// the rod (0 degrees) or obliquely (30 degrees). Turning the light post (spin) rotates an oblique view about the rod;
// the camera head is held upright, so the picture stays level. This file contains only geometry.
//   view = cos(angle) along + sin(angle) (cos(spin) up0 + sin(spin) right0),   right0 = along x world up, up0 = right0
//   x along
// Spin 0 tilts the view towards the top of the picture; positive spin is clockwise in the picture.
// Units: metres, degrees, world frame.   Tested in tests/sim/scene/scope_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/planar/zone.hpp"

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

// Models the scope's lens: slight barrel distortion and a circular view. Image coordinates as in
// geometry/planar/zone.hpp: half heights, y up, origin in the centre.
// Division model: r_u = r_d / (1 - k r_d^2), r_u in the undistorted (pinhole) picture, r_d in the distorted picture, k
// > 0 for barrel distortion. Source: Fitzgibbon, "Simultaneous linear estimation of multiple view geometry and lens
// distortion", CVPR 2001, with lambda = -k. Closed-form inverse: r_d = 2 r_u / (1 + sqrt(1 + 4 k r_u^2)).

struct Lens {
  double barrel = 0.08;  // 1             k, 0 none .. 0.3
  double field = 1.16;   // half heights  radius of the circular view in the distorted picture, > 0
};

// Converts a position in the pinhole picture to the distorted (seen) picture, and back. The inverse is valid only
// within the field.
glm::dvec2 seen_from_pinhole(const Lens& lens, const glm::dvec2& pinhole);
glm::dvec2 pinhole_from_seen(const Lens& lens, const glm::dvec2& seen);

// Returns the pinhole camera of a scope in OpenGL's conventions.
glm::dmat4 view_matrix(const ScopePose& pose);
glm::dmat4 projection_matrix(const ScopePose& pose, double aspect, double near, double far);
planar::ImageCamera image_camera(const ScopePose& pose, double aspect);

// Position of a world point in the distorted picture; `visible`: in front of the lens and within the field. (The screen
// may crop the field at the top and the bottom; that is ignored.)
struct SeenPoint {
  glm::dvec2 location{0.0};  // half heights
  bool visible = false;
};
SeenPoint seen_point(const ScopePose& pose, const Lens& lens, const glm::dvec3& point);

}  // namespace trocar
