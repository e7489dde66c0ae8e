// Defines the boxes of the broad phase. They are axis-aligned and closed, so boxes that only touch overlap. A fixed
// cube has a centre and a radius large enough for the object in any orientation; a dynamic box is the smallest box of
// the current frame.
// A box with a NaN bound or low > high on some axis is empty and overlaps nothing, not even itself. Infinite bounds are
// valid.
// Source: "sweep and prune" of Cohen, Lin, Manocha, Ponamgi, "I-COLLIDE", I3D 1995 (both kinds of box).
// Units: metres.   Tested in tests/cpu_collision/broad_phase_test.cpp
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <glm/glm.hpp>
#include <limits>
#include <span>

namespace trocar::broad {

enum class ObjectId : std::uint32_t {};

// For arrays [object].
constexpr std::uint32_t index(ObjectId object) { return static_cast<std::uint32_t>(object); }

// first < second. Lists of pairs ascend by first, then second.
struct Pair {
  ObjectId first, second;
  auto operator<=>(const Pair&) const = default;
};

// Returns the pair of two different objects, given in any order.
constexpr Pair pair_of(ObjectId a, ObjectId b) { return a < b ? Pair{a, b} : Pair{b, a}; }

struct Box {
  glm::vec3 low{std::numeric_limits<float>::infinity()}, high{-std::numeric_limits<float>::infinity()};  // m
};

// Returns whether the box contains no point: low > high or NaN on some axis.
inline bool empty(const Box& box) {
  return !(box.low.x <= box.high.x && box.low.y <= box.high.y && box.low.z <= box.high.z);
}

// Returns whether the closed boxes share a point. Empty boxes share none.
inline bool overlap(const Box& a, const Box& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
         a.low.z <= b.high.z && b.low.z <= a.high.z && !empty(a) && !empty(b);
}

// Returns the fixed cube. A negative radius, a NaN radius or a NaN centre gives an empty box.
inline Box cube(const glm::vec3& centre, float radius) { return {centre - radius, centre + radius}; }

// Returns the dynamic box of these points, [point] m; empty without points. A point whose coordinates sum to NaN (a
// NaN coordinate, or infinities of both signs) makes the box empty too.
inline Box box_of(std::span<const glm::vec3> points) {
  Box box;
  for (const glm::vec3& p : points) {
    if (std::isnan(p.x + p.y + p.z)) return {};
    box.low = glm::min(box.low, p), box.high = glm::max(box.high, p);
  }
  return box;
}

// Returns the smallest box around both. An empty box adds nothing.
inline Box united(const Box& a, const Box& b) {
  if (empty(a)) return b;
  if (empty(b)) return a;
  return {glm::min(a.low, b.low), glm::max(a.high, b.high)};
}

// Moves every side outwards by `by`, m. An empty box with finite bounds may then contain points.
inline Box grown(const Box& box, float by) { return {box.low - by, box.high + by}; }

// Returns a box that contains these bounds: the doubles are rounded outwards to float.
inline Box box_around(const glm::dvec3& low, const glm::dvec3& high) {
  Box box{glm::vec3(low), glm::vec3(high)};
  for (int axis = 0; axis < 3; ++axis) {
    if (static_cast<double>(box.low[axis]) > low[axis]) box.low[axis] = std::nextafter(box.low[axis], -INFINITY);
    if (static_cast<double>(box.high[axis]) < high[axis]) box.high[axis] = std::nextafter(box.high[axis], INFINITY);
  }
  return box;
}

}  // namespace trocar::broad
