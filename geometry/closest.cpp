#include "geometry/closest.hpp"

#include <cmath>

#include "geometry/refine.hpp"

namespace trocar {

ClosestPoints closest_segment_triangle(const glm::dvec3& p, const glm::dvec3& q, const Triangle& face) {
  const closest::Segment axis = closest::segment(p, q);
  const closest::AxisPair pair = closest::closest_axis_face(axis, closest::face(face));
  return {axis.p + pair.u * axis.d, pair.on_face, std::sqrt(pair.squared)};
}

// The shortest connection of two triangles always ends on an edge of at least one of them.
ClosestPoints closest_triangles(const Triangle& first, const Triangle& second) {
  const closest::Face one = closest::face(first), two = closest::face(second);
  ClosestPoints best{{}, {}, -1.0};
  double best_squared = INFINITY;
  for (int side = 0; side < 3; ++side) {
    const closest::AxisPair pair = closest::closest_axis_face(one.side[side], two);
    if (pair.squared < best_squared) {
      best_squared = pair.squared;
      best = {one.side[side].p + pair.u * one.side[side].d, pair.on_face, std::sqrt(pair.squared)};
    }
  }
  for (int side = 0; side < 3; ++side) {
    const closest::AxisPair pair = closest::closest_axis_face(two.side[side], one);
    if (pair.squared < best_squared) {
      best_squared = pair.squared;
      best = {pair.on_face, two.side[side].p + pair.u * two.side[side].d, std::sqrt(pair.squared)};
    }
  }
  return best;
}

}  // namespace trocar
