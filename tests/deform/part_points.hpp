// Makes contacts of a resting part with faces near it, at the points of a fine grid: for the implicit reference, whose
// contacts must not depend on those of the real-time model. Units: metres.
#pragma once

#include <array>
#include <vector>

#include "deform/solid/tissue.hpp"
#include "geometry/closest.hpp"
#include "geometry/part.hpp"

namespace trocar::test {

// Adds a contact of tool 0 at a point of a face, if the part lies outside the face there.
inline void add_part_point(const PosedPart& part, const glm::uvec3& face, float u, float v,
                           std::span<const glm::vec3> positions, std::vector<TissueContact>& points) {
  const Triangle t = triangle_of(positions, face);
  const glm::dvec3 p =
      (1.0 - static_cast<double>(u + v)) * t.a + static_cast<double>(u) * t.b + static_cast<double>(v) * t.c;
  const HullDistance closest = hull_distance(part.corners(), std::array{p});
  const glm::dvec3 outward = glm::normalize(glm::cross(t.b - t.a, t.c - t.a));
  const glm::dvec3 to_part = closest.distance > 1e-6 ? (closest.on_first - p) / closest.distance : outward;
  if (glm::dot(to_part, outward) > 0.0) points.push_back({0, face.x, glm::vec3(to_part), face.y, face.z, u, v});
}

// Contacts on every face within 4 mm of the part, at 28 points of each.
inline std::vector<TissueContact> part_grid(const PosedPart& part, std::span<const glm::uvec3> faces,
                                            std::span<const glm::vec3> positions) {
  constexpr int kSteps = 6;
  std::vector<TissueContact> points;
  for (const glm::uvec3& face : faces) {
    const Triangle t = triangle_of(positions, face);
    if (hull_distance(part.corners(), std::array{t.a, t.b, t.c}).distance > 0.004) continue;
    for (int u = 0; u <= kSteps; ++u)
      for (int v = 0; u + v <= kSteps; ++v)
        add_part_point(part, face, static_cast<float>(u) / kSteps, static_cast<float>(v) / kSteps, positions, points);
  }
  return points;
}

}  // namespace trocar::test
