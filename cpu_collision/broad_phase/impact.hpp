// Collisions of a step in the order they happen, the first of each object kept: of every candidate pair the instant is
// asked for, the instants are sorted, and a collision counts when neither of its two objects has had one before it.
// Source: F. Legrand, grid of cells (002 of the source documents). We differ: instants that are equal go by the pair,
// so the answer does not depend on the order of the candidates; no instant is "none", where the source uses -1. Moving
// spheres are decided exactly, by the root of a quadratic. Units: metres; times in steps, 0 .. 1.   Tested in
// tests/cpu_collision/broad_phase_impact_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"
#include "cpu_collision/broad_phase/uniform_grid.hpp"

namespace trocar::broad {

// A sphere that moves on a straight line within the step.
struct MovingSphere {
  glm::dvec3 centre{0.0}, motion{0.0};  // m, m per step
  double radius = 0.0;                  // m, >= 0
};

// First instant in [0, 1] at which the spheres touch; 0 when they overlap at the start. None when they do not, or a
// number is not finite.
std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b);

// The same in a space with periodic axes: of the images up to one length away the first. Motions must be shorter than a
// length, and the spheres smaller than half of one.
std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b, const GridAxes& axes);

// What the sphere covers during the step, never less.
Box swept_box(const MovingSphere& sphere);

struct Collision {
  Pair pair;
  double time;  // step
};

class CollisionOrder {
 public:
  // `candidates`: pairs whose boxes over the whole step overlap, each once. `impact(a, b)`: std::optional<double>, the
  // instant at which the two collide. `objects`: ids are below it. First collision of each object, by time, then pair.
  // Valid until the next call. Allocates only while it has not yet seen so many.
  template <typename Impact>
  std::span<const Collision> first_collisions(std::span<const Pair> candidates, std::size_t objects, Impact impact) {
    all_.clear();
    for (const Pair& pair : candidates)
      if (const std::optional<double> time = impact(pair.first, pair.second)) all_.push_back({pair, *time});
    keep_first(objects);
    return kept_;
  }

  std::span<const Collision> all() const { return all_; }  // of the last call, by time, then pair

 private:
  void keep_first(std::size_t objects);

  std::vector<Collision> all_, kept_;
  std::vector<char> had_;  // [object] a collision
};

}  // namespace trocar::broad
