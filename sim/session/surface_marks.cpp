#include "sim/session/surface_marks.hpp"

#include <algorithm>
#include <limits>

#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {
namespace {

// Returns the barycentric weights of a point in the face's plane, clamped to the face. A degenerate face gives its
// first corner.
glm::dvec3 shares(const Triangle& face, const glm::dvec3& point) {
  const glm::dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
  const double area = glm::dot(normal, normal);
  if (!(area > 0.0)) return {1.0, 0.0, 0.0};
  const double b = std::clamp(glm::dot(glm::cross(point - face.a, face.c - face.a), normal) / area, 0.0, 1.0);
  const double c = std::clamp(glm::dot(glm::cross(face.b - face.a, point - face.a), normal) / area, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

}  // namespace

std::vector<SurfaceMark> nearest_marks(std::uint32_t organ, const MeshView& surface,
                                       std::span<const glm::vec3> points) {
  const auto tree = make_surface_tree({});
  tree->rebuild(surface);
  std::vector<SurfaceMark> marks;
  for (const glm::vec3& point : points) {
    const auto nearest = tree->closest(glm::dvec3(point), std::numeric_limits<double>::infinity());
    if (!nearest) {
      marks.push_back({organ, glm::uvec3(0), {1.f, 0.f, 0.f}});
      continue;
    }
    const glm::uvec3 face = surface.faces[index(nearest->face)];
    marks.push_back({organ, face, glm::vec3(shares(triangle_of(surface.positions, face), nearest->point))});
  }
  return marks;
}

SurfaceMark nearest_mark(std::uint32_t organ, const MeshView& surface, const glm::vec3& point) {
  return nearest_marks(organ, surface, {&point, 1}).front();
}

}  // namespace trocar
