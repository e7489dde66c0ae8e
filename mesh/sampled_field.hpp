// Samples a signed distance once on a grid and evaluates it by a cubic B-spline. The result is twice continuously
// differentiable, gives the same surface for every face count, and makes projection cheap even when the shape's formula
// is costly.
// The B-spline does not interpolate its samples: it rounds features finer than the spacing, which keeps creases
// organic. Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#pragma once

#include <cstddef>
#include <functional>
#include <glm/glm.hpp>
#include <vector>

namespace trocar {

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

  FieldSample at(const glm::dvec3& p) const;
  // Returns the surface point found by following the gradient from `p`, which is within a few spacings of the surface.
  glm::dvec3 project(glm::dvec3 p) const;

  glm::dvec3 origin() const { return origin_; }
  double spacing() const { return spacing_; }
  glm::ivec3 size() const { return size_; }
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

}  // namespace trocar
