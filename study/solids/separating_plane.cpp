#include "study/solids/separating_plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::dvec4;

// The points of both sets as samples of a perceptron. A point x, shifted and scaled to the unit box, becomes z = (x,
// -1) in the first set and z = (-x, 1) in the second.
struct Sample {
  std::span<const dvec3> first, second;
  dvec3 centre;
  double scale;  // 1/m

  std::size_t size() const { return first.size() + second.size(); }
  dvec4 at(std::size_t i) const {
    if (i < first.size()) return {(first[i] - centre) * scale, -1.0};
    return {(centre - second[i - first.size()]) * scale, 1.0};
  }
};

Sample sample_of(std::span<const dvec3> first, std::span<const dvec3> second) {
  dvec3 low(std::numeric_limits<double>::infinity()), high = -low;
  for (const auto& set : {first, second}) {
    for (const dvec3& p : set) low = glm::min(low, p), high = glm::max(high, p);
  }
  const dvec3 half = 0.5 * (high - low);
  const double size = std::max({half.x, half.y, half.z});
  return {first, second, 0.5 * (low + high), size > 0.0 ? 1.0 / size : 1.0};
}

// Converts the plane to world coordinates and checks there that the two sets lie on its two sides.
bool verified(const Sample& sample, const dvec4& v, SeparatingPlaneAnswer& answer) {
  const double length = glm::length(dvec3(v));
  if (!(length > 0.0)) return false;
  const dvec3 normal = dvec3(v) / length;
  double above = std::numeric_limits<double>::infinity(), below = -above, largest = 0.0;
  for (const dvec3& p : sample.first) {
    above = std::min(above, glm::dot(normal, p));
    largest = std::max(largest, glm::dot(glm::abs(normal), glm::abs(p)));
  }
  for (const dvec3& p : sample.second) {
    below = std::max(below, glm::dot(normal, p));
    largest = std::max(largest, glm::dot(glm::abs(normal), glm::abs(p)));
  }
  // Each product has four roundings.
  if (above - below <= 8.0 * std::numeric_limits<double>::epsilon() * largest) return false;
  answer.plane = {normal, 0.5 * (above + below)};
  answer.gap = above - below;
  return true;
}

double weight_of(const SeparatingPlaneParams& params, double current, const dvec4& v, const dvec4& z, double product) {
  if (params.weight != PlaneWeight::Quality) return current;
  // A point on the plane itself would have weight 0 and never turn it.
  return product != 0.0 ? std::abs(product) / (glm::length(v) * glm::length(z)) : params.first_weight;
}

}  // namespace

SeparatingPlaneAnswer separating_plane(std::span<const dvec3> first, std::span<const dvec3> second, const Plane* before,
                                       const SeparatingPlaneParams& params) {
  const Sample sample = sample_of(first, second);
  dvec4 v(0.0, 0.0, 0.0, 1.0);
  if (before != nullptr && before->normal != dvec3(0.0)) {
    v = {before->normal, (before->offset - glm::dot(before->normal, sample.centre)) * sample.scale};
  }
  SeparatingPlaneAnswer answer;
  double weight = params.first_weight;
  const std::size_t count = sample.size();
  std::size_t right = 0;  // consecutive points on their right side
  for (std::size_t i = 0; right < count; i = i + 1 < count ? i + 1 : 0) {
    const dvec4 z = sample.at(i);
    const double product = glm::dot(v, z);
    if (product > 0.0) {
      ++right;
      continue;
    }
    if (answer.updates == params.most_updates) return answer;
    v += weight_of(params, weight, v, z, product) * z;
    if (params.weight == PlaneWeight::Decaying) weight *= params.decay;
    ++answer.updates;
    right = 0;
  }
  answer.separated = verified(sample, v, answer);
  return answer;
}

}  // namespace trocar::solids
