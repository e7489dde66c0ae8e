// Models the scope's lens: slight barrel distortion and a circular view. Image coordinates as in
// geometry/planar/zone.hpp: half heights, y up, origin in the centre.
// Division model: r_u = r_d / (1 - k r_d^2), r_u in the undistorted (pinhole) picture, r_d in the distorted picture, k
// > 0 for barrel distortion. Source: Fitzgibbon, "Simultaneous linear estimation of multiple view geometry and lens
// distortion", CVPR 2001, with lambda = -k. Closed-form inverse: r_d = 2 r_u / (1 + sqrt(1 + 4 k r_u^2)).
// Tested in tests/sim/scope_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/planar/zone.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

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
