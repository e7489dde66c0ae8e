// Clips a part of a straight line by slabs. Boxes of every kind are tested in this way against segments and rays.
// Source: Kay, Kajiya, "Ray tracing complex scenes", SIGGRAPH 1986. Units: metres.   Tested in
// tests/study/tree_build_test.cpp
#pragma once

#include <limits>

#include "cpu_collision/lanes.hpp"

namespace trocar {

// The points from + t * along with t in [first, last].
struct LinePart {
  Lanes4 from, along;  // m  x, y, z, 0
  float first = 0.f, last = 1.f;
  float slack = 0.f;  // m  rounding of the float tests: volumes grow by this
};

inline LinePart segment_between(const glm::vec3& a, const glm::vec3& b, float slack) {
  return {lanes(a), lanes(b - a), 0.f, 1.f, slack};
}
inline LinePart ray_from(const glm::vec3& a, const glm::vec3& direction, float slack) {
  return {lanes(a), lanes(direction), 0.f, std::numeric_limits<float>::infinity(), slack};
}

// Returns whether a point of the part lies in all slabs low <= s(t) <= high, s(t) = from + t * along, of the first
// `count` lanes. Clips `first` and `last` to the slabs. Slabs are wider by the slack, so the answer may be true for a
// line that passes that close.
inline bool clip_by_slabs(Lanes4 from, Lanes4 along, Lanes4 low, Lanes4 high, float slack, int count, float& first,
                          float& last) {
  for (int k = 0; k < count; ++k) {
    const float below = low[k] - slack - from[k], above = high[k] + slack - from[k];
    if (along[k] > 0.f || along[k] < 0.f) {
      const float t0 = below / along[k], t1 = above / along[k];
      first = std::fmax(first, std::fmin(t0, t1));
      last = std::fmin(last, std::fmax(t0, t1));
    } else if (below > 0.f || above < 0.f) {
      return false;
    }
  }
  return first <= last;
}

}  // namespace trocar
