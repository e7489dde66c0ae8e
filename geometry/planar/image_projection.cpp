#include "geometry/planar/image_projection.hpp"

#include <cmath>

namespace trocar::planar {
namespace {

dvec2 to_image(const ImageCamera& camera, const glm::dvec4& clip) {
  return {camera.aspect * clip.x / clip.w, clip.y / clip.w};
}

}  // namespace

ImageTool project_tool(const ImageCamera& camera, const glm::dvec3& pivot, const glm::dvec3& tip) {
  glm::dvec4 a = camera.view_projection * glm::dvec4(pivot, 1.0), b = camera.view_projection * glm::dvec4(tip, 1.0);
  const double before_a = a.z + a.w, before_b = b.z + b.w;  // >= 0 in front of the near plane
  if (before_a < 0.0 && before_b < 0.0) return {};
  if (before_a < 0.0 || before_b < 0.0) {
    const glm::dvec4 cut = a + before_a / (before_a - before_b) * (b - a);
    (before_a < 0.0 ? a : b) = cut;
  }
  // With a camera that has no near plane, points can lie at or behind the eye.
  if (!(a.w > 0.0) || !(b.w > 0.0)) return {};
  const Segment shaft{to_image(camera, a), to_image(camera, b)};
  if (!std::isfinite(shaft.a.x + shaft.a.y + shaft.b.x + shaft.b.y)) return {};
  return {true, before_b >= 0.0, shaft};
}

}  // namespace trocar::planar
