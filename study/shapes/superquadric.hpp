// Makes superellipsoids and supertoroids as closed triangle meshes of any face count. They are test organs whose
// surface, volume and interior are known by formula: boxes, cylinders, ellipsoids, diamonds, stars, and rings with all
// these sections. Source: Barr, "Superquadrics and angle-preserving transformations", IEEE Computer Graphics and
// Applications 1981; Bergeret 2000, appendix B. We differ: points at equal distances along the two generating curves
// (superquadric.hpp), not at equal angles; fewer columns where the rows are short; one vertex per pole and no
// duplicates at the seam; and the same order of the exponents for both shapes (Bergeret exchanges them for the
// toroid). Units: metres. Centre at the origin, axis z; deterministic.   Tested in tests/study/shapes_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Samples superellipses, the generating curves of superquadrics: x = a cos^n t, y = b sin^n t, with |x/a|^(2/n) +
// |y/b|^(2/n) = 1. n < 1: box with rounded corners, 1: ellipse, 2: diamond, > 2: star with cusps on the axes. Source:
// Barr, "Superquadrics and angle-preserving transformations", 1981; Bergeret 2000, appendix B.1, whose program takes
// equal steps of t. Equal steps concentrate the points at the corners for n < 1 and at the cusps for n > 1. We differ:
// the points are equally spaced along the curve, and every corner has a point.
struct Superellipse {
  double a = 1.0, b = 1.0;    // m   half sizes along x and y, > 0
  double exponent = 1.0;      // 1   n, 0.1 .. 4
  double least_offset = 0.0;  // m   distance of the first point from an axis: limits how thin a cusp becomes
};

// The points that cut a quarter from (a, 0) to (0, b) into pieces.
struct QuarterPoints {
  std::vector<glm::dvec2> points;  // [piece + 1] as (x / a, y / b), both ends exact
  std::size_t corner = 0;          // index of the point with x / a = y / b; 0 when there is only one piece
};

class QuarterCurve {
 public:
  explicit QuarterCurve(const Superellipse& shape);  // its limits are not checked

  double length() const { return half_[0].length.back() + half_[1].length.back(); }  // m
  // Cuts the quarter into `pieces` >= 1 pieces.
  QuarterPoints cut(std::size_t pieces) const;

 private:
  // From an axis to the corner; x runs along that axis.
  struct Half {
    std::vector<double> length;  // [step] m from the axis
    double first = 0.0;          // m  shortest first piece
  };
  std::vector<glm::dvec2> cut_half(const Half& half, std::size_t pieces) const;

  double exponent_;
  std::array<Half, 2> half_;  // from the x axis, from the y axis
};

enum class SuperquadricKind { Ellipsoid, Toroid };

struct SuperquadricParams {
  SuperquadricKind kind = SuperquadricKind::Ellipsoid;
  glm::dvec3 size{0.05};          // m  half sizes, 1e-4 .. 1, none more than 100 times another
  double profile_exponent = 1.0;  // 1  e1, 0.1 .. 4: the curve from pole to pole; for a toroid the tube's section
  double outline_exponent = 1.0;  // 1  e2, 0.1 .. 4: the outline seen along z
  double hole = 0.02;  // m  half size of a toroid's hole along x (along y in proportion), 1 .. 99 % of size.x
  int faces = 20000;   // 1  32 .. 4,000,000; met within 4 % from 1000 faces on, below as closely as the shape allows
};

// Makes the mesh. It is closed, manifold, outward and without degenerate faces: MeshReport::sound() is true.
// Throws InputError when a parameter is out of range.
TriangleMesh make_superquadric(const SuperquadricParams& params);

// Returns the inside-outside function: below 1 inside, 1 on the surface, above 1 outside. It is Barr's function to the
// power e1 / 2, which is homogeneous of degree 1 in the distance and keeps rounding errors small for every exponent.
double superquadric_radius(const SuperquadricParams& params, const glm::dvec3& point);

// Returns the volume by closed form, m^3.
double superquadric_volume(const SuperquadricParams& params);

}  // namespace trocar
