// Adds doubles without rounding, for the sign of a determinant.
// Source: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997. Parts
// that underflow or overflow are not exact (double_pair.hpp gives the range of products).
// Tested through tests/geometry/planar_exact_test.cpp and tests/mesh/exact_sign_test.cpp
#pragma once

#include <array>
#include <cstddef>

#include "geometry/double_pair.hpp"

namespace trocar {

// The parts do not overlap and are not zero, smallest first, so the last one gives the sign. At most `kParts` terms.
template <std::size_t kParts>
class ExactSum {
 public:
  void add(double term) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const DoublePair step = exact_sum(term, parts_[i]);
      term = step.high;
      if (step.low != 0.0) parts_[kept++] = step.low;
    }
    if (term != 0.0) parts_[kept++] = term;
    count_ = kept;
  }
  void add_product(double a, double b) {
    const DoublePair product = exact_product(a, b);
    add(product.low);
    add(product.high);
  }
  int sign() const { return count_ == 0 ? 0 : parts_[count_ - 1] > 0.0 ? 1 : -1; }

 private:
  std::array<double, kParts> parts_{};
  std::size_t count_ = 0;
};

}  // namespace trocar
