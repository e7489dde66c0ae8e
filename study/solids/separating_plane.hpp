// Finds a plane between two point sets by turning it towards points on its wrong side. The answer is one-sided:
// "separated" is verified and always right; "not found" may be wrong. Source: Bergeret 2000, 4.4 (perceptron after
// Rosenblatt; weight decay 0.97). We differ: positions are shifted and scaled to the unit box, so that units do not
// matter; the search continues after the last wrong point; the last frame's plane can be the start; and the quality
// weight has the sign that turns the plane towards the point (as printed it turns away). Units: metres.   Failure rates
// measured in docs/solids.md; checked in tests/study/solids_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

namespace trocar::solids {

// Weight with which a point z on the wrong side changes the plane v; both have four components.
enum class PlaneWeight : std::uint8_t {
  Constant,  // first_weight
  Decaying,  // first_weight, times `decay` after every update
  Quality,   // |v . z| / (|v| |z|): larger for a point farther on the wrong side
};

struct SeparatingPlaneParams {
  PlaneWeight weight = PlaneWeight::Constant;
  double first_weight = 1.0;  // 1    > 0
  double decay = 0.97;        // 1    0 < decay < 1
  int most_updates = 1000;    // 1    after these, "not found"
};

struct Plane {
  glm::dvec3 normal{0.0};  // unit; 0: no plane
  double offset = 0.0;     // m    normal . x = offset on the plane
};

struct SeparatingPlaneAnswer {
  bool separated = false;
  Plane plane;       // first on the positive side, second on the negative
  double gap = 0.0;  // m    between the two sets across the plane: at most their distance; 0 when not found
  int updates = 0;
};

// Searches for a plane. Each set, [point] m, needs at least one point; all must be finite. `before`: the plane of the
// last frame, with which the search starts; null or a zero normal when there is none. Allocates nothing.
SeparatingPlaneAnswer separating_plane(std::span<const glm::dvec3> first, std::span<const glm::dvec3> second,
                                       const Plane* before = nullptr, const SeparatingPlaneParams& params = {});

}  // namespace trocar::solids
