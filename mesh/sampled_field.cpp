#include "mesh/sampled_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

constexpr int kBlock = 4;  // nodes per side of a block; blocks are sampled in full only near the surface

// Samples farther from the surface than half a block's diagonal and a long edge's sag are never used.
constexpr double kBand = 20.0;  // mm

struct Weights {
  std::array<double, 4> value, slope;
};

// Returns the weights of the uniform cubic B-spline at offset t in [0,1) from the second of four nodes.
Weights spline_weights(double t) {
  const double s = 1.0 - t;
  return {{s * s * s / 6.0, (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0, (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
           t * t * t / 6.0},
          {-s * s / 2.0, (-4.0 * t + 3.0 * t * t) / 2.0, (4.0 * s - 3.0 * s * s) / 2.0, t * t / 2.0}};
}

}  // namespace

SampledField::SampledField(const FieldBox& box, const std::function<double(const glm::dvec3&)>& distance)
    : origin_(box.low), spacing_(box.spacing), size_(glm::ivec3(glm::ceil((box.high - box.low) / box.spacing)) + 1) {
  samples_.resize(static_cast<std::size_t>(size_.x) * size_.y * size_.z);
  for (int z = 0; z < size_.z; z += kBlock)
    for (int y = 0; y < size_.y; y += kBlock)
      for (int x = 0; x < size_.x; x += kBlock) sample_block({x, y, z}, distance);
}

void SampledField::sample_block(const glm::ivec3& first, const std::function<double(const glm::dvec3&)>& distance) {
  const double middle = distance(origin_ + spacing_ * (glm::dvec3(first) + 0.5 * (kBlock - 1)));
  const glm::ivec3 end = glm::min(first + kBlock, size_);
  for (int z = first.z; z < end.z; ++z)
    for (int y = first.y; y < end.y; ++y)
      for (int x = first.x; x < end.x; ++x) {
        const bool near = std::abs(middle) < kBand;
        samples_[node(x, y, z)] =
            static_cast<float>(near ? distance(origin_ + spacing_ * glm::dvec3(x, y, z)) : middle);
      }
}

FieldSample SampledField::at(const glm::dvec3& p) const {
  const glm::dvec3 q = (p - origin_) / spacing_;
  const glm::ivec3 cell = glm::clamp(glm::ivec3(glm::floor(q)), glm::ivec3(1), size_ - 3);
  const glm::dvec3 t = glm::clamp(q - glm::dvec3(cell), 0.0, 1.0);
  const Weights wx = spline_weights(t.x), wy = spline_weights(t.y), wz = spline_weights(t.z);
  FieldSample sum{0.0, glm::dvec3(0.0)};
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 4; ++j) {
      const float* row = &samples_[node(cell.x - 1, cell.y + j - 1, cell.z + k - 1)];
      double value = 0.0, slope = 0.0;
      for (int i = 0; i < 4; ++i) {
        value += wx.value[i] * row[i];
        slope += wx.slope[i] * row[i];
      }
      sum.value += wy.value[j] * wz.value[k] * value;
      sum.gradient += glm::dvec3(wy.value[j] * wz.value[k] * slope, wy.slope[j] * wz.value[k] * value,
                                 wy.value[j] * wz.slope[k] * value);
    }
  sum.gradient /= spacing_;
  return sum;
}

glm::dvec3 SampledField::project(glm::dvec3 p) const {
  constexpr int kMostSteps = 8;
  constexpr double kCloseEnough = 1e-5;  // mm, well below the four decimals in a file
  for (int step = 0; step < kMostSteps; ++step) {
    const FieldSample s = at(p);
    const double steepness = std::max(glm::length(s.gradient), 0.2);
    const double stride = std::clamp(s.value / steepness, -2.0 * spacing_, 2.0 * spacing_);
    p -= stride / steepness * s.gradient;
    if (std::abs(stride) < kCloseEnough) break;
  }
  return p;
}

std::vector<float> SampledField::node_values() const {
  std::vector<float> values(samples_.size());
  for (int z = 0; z < size_.z; ++z)
    for (int y = 0; y < size_.y; ++y)
      for (int x = 0; x < size_.x; ++x)
        values[node(x, y, z)] = static_cast<float>(at(origin_ + spacing_ * glm::dvec3(x, y, z)).value);
  return values;
}

}  // namespace trocar
