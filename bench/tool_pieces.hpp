// Converts a convex tool volume to the forms that other libraries' queries need: corners and faces, boxes and balls
// along the shaft, one box swept along it. Each form contains the whole volume. Units: metres.
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/tool_volume.hpp"

namespace trocar::bench {

struct Polytope {
  std::vector<glm::dvec3> corners;
  std::vector<std::vector<int>> faces;  // corner numbers, counter-clockwise seen from outside
};

// Merges corners closer than a nanometre. The volume must be bounded.
Polytope polytope_of(const ToolVolume& tool);

struct Piece {
  glm::vec3 low, high;  // m, bounds of one slice of the volume across the shaft
  glm::vec3 centre() const { return 0.5f * (low + high); }
  float radius() const { return 0.5f * glm::length(high - low); }  // ball around the bounds
};

// Fills one piece per element of `pieces`.
void slice(const Polytope& polytope, const ToolVolume& tool, std::span<Piece> pieces);

struct SweptBox {
  glm::vec3 from, to;  // m, the box's centre
  glm::vec3 half;      // m, its half size
};
SweptBox swept_box_around(const Polytope& polytope, const ToolVolume& tool);

}  // namespace trocar::bench
