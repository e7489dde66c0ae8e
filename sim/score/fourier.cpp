#include "sim/score/fourier.hpp"

#include <numbers>
#include <utility>
#include <vector>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

glm::dvec2 product(const glm::dvec2& a, const glm::dvec2& b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// Applies the bit-reversal permutation.
void reverse_digits(std::span<glm::dvec2> values) {
  for (std::size_t i = 1, j = 0; i < values.size(); ++i) {
    std::size_t bit = values.size() / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
}

}  // namespace

void fourier_transform(std::span<glm::dvec2> values) {
  reverse_digits(values);
  std::vector<glm::dvec2> roots(values.size() / 2);  // of unity
  for (std::size_t k = 0; k < roots.size(); ++k) {
    const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(values.size());
    roots[k] = {elementary::cos(angle), elementary::sin(angle)};
  }
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    const std::size_t stride = roots.size() / half;
    for (std::size_t begin = 0; begin < values.size(); begin += 2 * half)
      for (std::size_t k = begin; k < begin + half; ++k) {
        const glm::dvec2 turned = product(roots[(k - begin) * stride], values[k + half]);
        values[k + half] = values[k] - turned;
        values[k] += turned;
      }
  }
}

}  // namespace trocar
