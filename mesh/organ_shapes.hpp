// Defines the shapes of our organs as signed distances, modelled after anatomy textbooks; no scans were used.
// Common frame: -x the patient's right, +y towards the head, +z to the front; x = 0 is the midline, y = 0
// about the height of the pylorus in a standing patient, z = 0 the skin of the back. Units: millimetres.   Checked in
// tests/mesh/organ_maker_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

// Computes signed distances of simple solids and of their smooth blends, from which the organs are modelled. Distances
// are negative inside. Based on: I. Quilez, "distance functions" and "smooth minimum" (cubic, so that blends keep a
// continuous curvature).

// Returns the union of two solids, rounded within `blend` of the crease where they meet.
inline double smooth_union(double a, double b, double blend) {
  const double h = std::max(blend - std::abs(a - b), 0.0) / blend;
  return std::min(a, b) - h * h * h * blend / 6.0;
}

// Returns the common part, rounded in the same way.
inline double smooth_intersection(double a, double b, double blend) { return -smooth_union(-a, -b, blend); }

// Returns `solid` without `tool`.
inline double smooth_cut(double solid, double tool, double blend) { return smooth_intersection(solid, -tool, blend); }

// Returns a soft bump: 1 at the middle, 0 beyond two half-widths. Plain arithmetic, so that every machine makes the
// same organ.
inline double bump(double half_widths) {
  const double h = std::max(1.0 - 0.25 * half_widths * half_widths, 0.0);
  return h * h * h * h;
}

// Returns the distance from an ellipsoid to first order: exact on the surface, accurate near it.
inline double ellipsoid(const glm::dvec3& p, const glm::dvec3& centre, const glm::dvec3& radii) {
  const glm::dvec3 q = (p - centre) / radii;
  const double k0 = glm::length(q), k1 = glm::length(q / radii);
  return k1 > 1e-12 ? k0 * (k0 - 1.0) / k1 : -std::min({radii.x, radii.y, radii.z});
}

// Returns the distance from a sphere, exactly.
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

// Returns a uniform cubic B-spline along the control beads, ten beads to each, as fine round cones in a space stretched
// front to back. The spline passes near the control beads, not through them.
std::vector<Bead> fine_axis(std::span<const Bead> control, double stretch);

// Returns the distance from a chain of round cones with blended joints. `beads`: [bead], at least two.
inline double limb(const glm::dvec3& p, std::span<const Bead> beads, double blend) {
  double d = round_cone(p, beads[0], beads[1]);
  for (std::size_t i = 2; i < beads.size(); ++i) d = smooth_union(d, round_cone(p, beads[i - 1], beads[i]), blend);
  return d;
}

// Samples a signed distance once on a grid and evaluates it by a cubic B-spline. The result is twice continuously
// differentiable, gives the same surface for every face count, and makes projection cheap even when the shape's formula
// is costly. The B-spline does not interpolate its samples: it rounds features finer than the spacing, which keeps
// creases organic.
struct FieldBox {
  glm::dvec3 low, high;  // mm   corners; the surface must stay 3 spacings inside
  double spacing = 2.0;  // mm   grid step
};

struct FieldSample {
  double value;         // mm   negative inside
  glm::dvec3 gradient;  // 1    points outward
};

class SampledField {
 public:
  // Samples `distance`; evaluates it at every node only near the surface. Its gradient should not exceed 1.
  SampledField(const FieldBox& box, const std::function<double(const glm::dvec3&)>& distance);

  FieldSample at(const glm::dvec3& p) const;  // p: mm, at least a spacing inside the box
  // Returns the surface point found by following the gradient from `p`, which is within a few spacings of the surface.
  glm::dvec3 project(glm::dvec3 p) const;

  glm::dvec3 origin() const { return origin_; }  // mm, of the first node
  double spacing() const { return spacing_; }    // mm
  glm::ivec3 size() const { return size_; }      // nodes along x, y and z
  // Returns the spline at the grid's nodes, x fastest.   [node] mm
  std::vector<float> node_values() const;

 private:
  std::size_t node(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * size_.y + y) * static_cast<std::size_t>(size_.x) + x;
  }
  void sample_block(const glm::ivec3& first, const std::function<double(const glm::dvec3&)>& distance);

  glm::dvec3 origin_;
  double spacing_;
  glm::ivec3 size_;
  std::vector<float> samples_;  // [node] mm, x fastest
};

// Makes the zero surface of a sampled field as raw triangles from the grid: closed and manifold, but uneven.
struct RawSurface {
  std::vector<glm::dvec3> positions;  // [vertex] mm
  std::vector<glm::uvec3> faces;      // [face] counter-clockwise seen from outside
};

RawSurface iso_surface(const SampledField& field);  // mm

// Signed distances of the organs, negative inside, approximate away from the surface; and boxes to sample them in.
double liver_distance(const glm::dvec3& p);  // mm
FieldBox liver_box();                        // mm

double stomach_distance(const glm::dvec3& p);  // mm
FieldBox stomach_box();                        // mm

double gallbladder_distance(const glm::dvec3& p);  // mm
FieldBox gallbladder_box();                        // mm

// The gallbladder with a stone of 16 mm that is stuck in its neck and bulges it; within the box of the gallbladder.
double gallbladder_with_stone_distance(const glm::dvec3& p);  // mm

// The cystic lymph node, in the medial end of the hepatocystic triangle.
double lymph_node_distance(const glm::dvec3& p);  // mm
FieldBox lymph_node_box();                        // mm

// Those of the neighbours of an operation on the gallbladder, which are drawn and no more (neighbour_shapes.cpp).
double colon_distance(const glm::dvec3& p);  // mm
FieldBox colon_box();                        // mm

double omentum_distance(const glm::dvec3& p);  // mm
FieldBox omentum_box();                        // mm

double lesser_omentum_distance(const glm::dvec3& p);  // mm
FieldBox lesser_omentum_box();                        // mm

double retroperitoneum_distance(const glm::dvec3& p);  // mm
FieldBox retroperitoneum_box();                        // mm

double diaphragm_distance(const glm::dvec3& p);  // mm
FieldBox diaphragm_box();                        // mm

}  // namespace trocar
