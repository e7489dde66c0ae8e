// Projects the tool as the endoscope sees it: shaft and tip in image coordinates, clipped at the near plane.
// Image coordinates: x right, y up, origin in the middle; y from -1 to 1 over the image's height, x from -aspect to
// aspect over its width. One unit is half the image's height in both directions, so zones do not depend on the window's
// size. In pixels: times half the height. Points beside the image are projected too.
// Matrices follow OpenGL (column vectors, z from -w to w).
// Checked with perspective cameras in tests/geometry/planar_zone_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/planar/segment.hpp"

namespace trocar::planar {

struct ImageCamera {
  glm::dmat4 view_projection{1.0};  // world, m -> clip space
  double aspect = 1.0;              // 1   width / height of the image, > 0
};

// A straight shaft in the image: a towards the trocar, b towards the tip. It is cut at the near plane; tip_visible says
// whether b is still the tip. visible is false when the whole shaft is behind the near plane or the pose is not finite.
struct ImageTool {
  bool visible = false, tip_visible = false;
  Segment shaft;
};

ImageTool project_tool(const ImageCamera& camera, const glm::dvec3& pivot, const glm::dvec3& tip);

}  // namespace trocar::planar
