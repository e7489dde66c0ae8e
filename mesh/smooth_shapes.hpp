// Computes signed distances of simple solids and of their smooth blends, from which the organs are modelled. Distances
// are negative inside. Based on: I. Quilez, "distance functions" and "smooth minimum" (cubic, so that blends keep a
// continuous curvature). Units: millimetres.   Checked through the organs in tests/mesh/organ_maker_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <glm/glm.hpp>
#include <span>

namespace trocar {

// Returns the union of two solids, rounded within `blend` of the crease where they meet.
inline double smooth_union(double a, double b, double blend) {
  const double h = std::max(blend - std::abs(a - b), 0.0) / blend;
  return std::min(a, b) - h * h * h * blend / 6.0;
}

inline double smooth_intersection(double a, double b, double blend) { return -smooth_union(-a, -b, blend); }

// Returns `solid` without `tool`.
inline double smooth_cut(double solid, double tool, double blend) { return smooth_intersection(solid, -tool, blend); }

// Returns the distance from an ellipsoid to first order: exact on the surface, accurate near it.
inline double ellipsoid(const glm::dvec3& p, const glm::dvec3& centre, const glm::dvec3& radii) {
  const glm::dvec3 q = (p - centre) / radii;
  const double k0 = glm::length(q), k1 = glm::length(q / radii);
  return k1 > 1e-12 ? k0 * (k0 - 1.0) / k1 : -std::min({radii.x, radii.y, radii.z});
}

inline double sphere(const glm::dvec3& p, const glm::dvec3& centre, double radius) {
  return glm::length(p - centre) - radius;
}

// A control sphere of a limb (a chain of round cones); the radius varies linearly between two consecutive beads.
struct Bead {
  glm::dvec3 centre;  // mm
  double radius;      // mm
};

// Returns the distance from the round-ended cone between two beads.
inline double round_cone(const glm::dvec3& p, const Bead& a, const Bead& b) {
  const glm::dvec3 axis = b.centre - a.centre;
  const double t = std::clamp(glm::dot(p - a.centre, axis) / glm::dot(axis, axis), 0.0, 1.0);
  return glm::length(p - a.centre - t * axis) - glm::mix(a.radius, b.radius, t);
}

// Returns the distance from a chain of round cones with blended joints.
inline double limb(const glm::dvec3& p, std::span<const Bead> beads, double blend) {
  double d = round_cone(p, beads[0], beads[1]);
  for (std::size_t i = 2; i < beads.size(); ++i) d = smooth_union(d, round_cone(p, beads[i - 1], beads[i]), blend);
  return d;
}

}  // namespace trocar
