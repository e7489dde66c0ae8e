// Finds the collisions of a step in the order in which they happen, and keeps the first of each object. Each candidate
// pair gets a time of impact, the times are sorted, and a collision counts when neither of its two objects has had an
// earlier one.
// Source: F. Legrand, grid of cells (002 of the source documents). We differ: ties in time are ordered by pair, so the
// answer does not depend on the order of the candidates; "no impact" is an empty optional, where the source uses -1.
// Moving spheres are decided exactly, by the root of a quadratic. Units: metres; times in steps, 0 .. 1.   Tested in
// tests/study/broad_phase_impact_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"
#include "study/broad_phase/uniform_grid.hpp"

namespace trocar::broad {

// A sphere that moves on a straight line within the step.
struct MovingSphere {
  glm::dvec3 centre{0.0}, motion{0.0};  // m, m per step
  double radius = 0.0;                  // m, >= 0
};

// Returns the first time in [0, 1] at which the spheres touch; 0 when they overlap at the start. Returns nothing when
// they do not touch or a number is not finite.
std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b);

// Does the same in a space with periodic axes: the earliest impact over the images up to one period away. Motions must
// be shorter than a period, and the spheres smaller than half of one.
std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b, const GridAxes& axes);

// Returns a box that contains the sphere during the whole step.
Box swept_box(const MovingSphere& sphere);

struct Collision {
  Pair pair;
  double time;  // step
};

class CollisionOrder {
 public:
  // Finds the collisions. `candidates`: pairs whose boxes over the whole step overlap, each once. `impact(a, b)`:
  // std::optional<double>, the time at which the two collide. `objects`: upper bound of the ids, exclusive. Returns the
  // first collision of each object, by time, then pair. Valid until the next call. Allocates only when a call is larger
  // than all earlier ones.
  template <typename Impact>
  std::span<const Collision> first_collisions(std::span<const Pair> candidates, std::size_t objects, Impact impact) {
    all_.clear();
    for (const Pair& pair : candidates)
      if (const std::optional<double> time = impact(pair.first, pair.second)) all_.push_back({pair, *time});
    keep_first(objects);
    return kept_;
  }

  std::span<const Collision> all() const { return all_; }  // from the last call, by time, then pair

 private:
  void keep_first(std::size_t objects);

  std::vector<Collision> all_, kept_;
  std::vector<char> had_;  // [object] 1 once it has had a collision
};

}  // namespace trocar::broad
