#include "app/session/surface_marks.hpp"

#include <algorithm>
#include <limits>

#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {
namespace {

// Shares of the corners in a point of the face's plane, cut to the face. A face without area is its first corner.
glm::dvec3 shares(const Triangle& face, const glm::dvec3& point) {
  const glm::dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
  const double area = glm::dot(normal, normal);
  if (!(area > 0.0)) return {1.0, 0.0, 0.0};
  const double b = std::clamp(glm::dot(glm::cross(point - face.a, face.c - face.a), normal) / area, 0.0, 1.0);
  const double c = std::clamp(glm::dot(glm::cross(face.b - face.a, point - face.a), normal) / area, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

}  // namespace

SurfaceMark nearest_mark(std::uint32_t organ, const MeshView& surface, const glm::vec3& place) {
  const auto tree = make_surface_tree({});
  tree->rebuild(surface);
  const auto nearest = tree->closest(glm::dvec3(place), std::numeric_limits<double>::infinity());
  if (!nearest) return {organ, glm::uvec3(0), {1.f, 0.f, 0.f}};
  const glm::uvec3 face = surface.faces[index(nearest->face)];
  return {organ, face, glm::vec3(shares(triangle_of(surface.positions, face), nearest->point))};
}

}  // namespace trocar
