// Samples superellipses, the generating curves of superquadrics: x = a cos^n t, y = b sin^n t, with |x/a|^(2/n) +
// |y/b|^(2/n) = 1. n < 1: box with rounded corners, 1: ellipse, 2: diamond, > 2: star with cusps on the axes.
// Source: Barr, "Superquadrics and angle-preserving transformations", 1981; appendix B.1 of the thesis, whose program
// takes equal steps of t. Equal steps concentrate the points at the corners for n < 1 and at the cusps for n > 1. We
// differ: the points are equally spaced along the curve, and every corner has a point. Units: metres.   Tested in
// tests/study/superquadric_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <vector>

namespace trocar {

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
  explicit QuarterCurve(const Superellipse& shape);

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

}  // namespace trocar
