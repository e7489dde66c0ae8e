#include "study/solids/crossing_pairs.hpp"

#include "mesh/exact_sign.hpp"
#include "study/solids/edge_triangle.hpp"

namespace trocar::solids {
namespace {

using Corners = glm::vec3[3];

bool edge_meets(const glm::vec3& from, const glm::vec3& to, const Corners& t, EdgeTest test) {
  const Triangle triangle{glm::dvec3(t[0]), glm::dvec3(t[1]), glm::dvec3(t[2])};
  const glm::dvec3 p(from), q(to);
  const EdgeVerdict verdict =
      test == EdgeTest::Area ? edge_triangle_by_area(p, q, triangle) : edge_triangle_by_angle(p, q, triangle);
  return verdict != EdgeVerdict::Apart;
}

bool any_edge_meets(const Corners& edges, const Corners& face, EdgeTest test) {
  return edge_meets(edges[0], edges[1], face, test) || edge_meets(edges[1], edges[2], face, test) ||
         edge_meets(edges[2], edges[0], face, test);
}

}  // namespace

bool faces_cross(const Corners& first, const Corners& second, EdgeTest test) {
  if (test == EdgeTest::Exact) return faces_cross_exactly(first, second);
  return any_edge_meets(first, second, test) || any_edge_meets(second, first, test);
}

void crossing_pairs(const MeshView& first, const MeshView& second, EdgeTest test,
                    std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  pairs.clear();
  for (std::uint32_t f = 0; f < first.faces.size(); ++f) {
    const glm::uvec3 v = first.faces[f];
    const Corners s = {first.positions[v.x], first.positions[v.y], first.positions[v.z]};
    for (std::uint32_t g = 0; g < second.faces.size(); ++g) {
      const glm::uvec3 w = second.faces[g];
      const Corners t = {second.positions[w.x], second.positions[w.y], second.positions[w.z]};
      if (faces_cross(s, t, test)) pairs.emplace_back(f, g);
    }
  }
}

}  // namespace trocar::solids
