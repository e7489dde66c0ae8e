#include "study/shapes/superellipse.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trocar {
namespace {

constexpr std::size_t kSteps = 4096;

double parameter_of(std::size_t step) { return static_cast<double>(step) / kSteps; }

// Returns a point between the axis (t = 0) and the corner (t = 1). Up to n = 1 it goes by the polar angle, above by the
// angle of the formula: each gives even points where the other does not; at n = 1 they are equal.
glm::dvec2 point_at(double exponent, double t) {
  const double angle = t * 0.25 * std::numbers::pi;
  if (exponent > 1.0) return {std::pow(std::cos(angle), exponent), std::pow(std::sin(angle), exponent)};
  const double slope = std::tan(angle), power = 2.0 / exponent;
  const double x = std::pow(1.0 + std::pow(slope, power), -1.0 / power);
  return {x, x * slope};
}

}  // namespace

QuarterCurve::QuarterCurve(const Superellipse& shape) : exponent_(shape.exponent) {
  const glm::dvec2 sizes[2] = {{shape.a, shape.b}, {shape.b, shape.a}};
  for (int side = 0; side < 2; ++side) {
    Half& half = half_[side];
    half.length.assign(kSteps + 1, 0.0);
    glm::dvec2 before(sizes[side].x, 0.0);
    for (std::size_t i = 1; i <= kSteps; ++i) {
      const glm::dvec2 here = sizes[side] * point_at(exponent_, parameter_of(i));
      half.length[i] = half.length[i - 1] + glm::distance(before, here);
      if (here.y < shape.least_offset && i < kSteps / 2) half.first = half.length[i];
      before = here;
    }
  }
}

// Pieces of equal length; the first one is longer at a cusp.
std::vector<glm::dvec2> QuarterCurve::cut_half(const Half& half, std::size_t pieces) const {
  std::vector<glm::dvec2> points{{1.0, 0.0}};
  const double first = std::max(half.length.back() / static_cast<double>(pieces), half.first);
  for (std::size_t i = 0; i + 1 < pieces; ++i) {
    const double rest = (half.length.back() - first) / static_cast<double>(pieces - 1);
    const double wanted = first + rest * static_cast<double>(i);
    const auto above = std::upper_bound(half.length.begin() + 1, half.length.end() - 1, wanted);
    const auto step = static_cast<std::size_t>(above - half.length.begin());
    const double low = half.length[step - 1], part = std::clamp((wanted - low) / (half.length[step] - low), 0.0, 1.0);
    points.push_back(point_at(exponent_, parameter_of(step - 1) + part / kSteps));
  }
  points.emplace_back(std::pow(2.0, -0.5 * exponent_));
  return points;
}

QuarterPoints QuarterCurve::cut(std::size_t pieces) const {
  if (pieces == 1) return {{{1.0, 0.0}, {0.0, 1.0}}, 0};
  const double share = std::round(static_cast<double>(pieces) * half_[0].length.back() / length());
  const std::size_t low = std::clamp<std::size_t>(static_cast<std::size_t>(share), 1, pieces - 1);
  QuarterPoints quarter{cut_half(half_[0], low), low};
  const std::vector<glm::dvec2> high = cut_half(half_[1], pieces - low);
  for (std::size_t i = high.size() - 1; i-- > 0;) quarter.points.emplace_back(high[i].y, high[i].x);
  return quarter;
}

}  // namespace trocar
