// Finds the largest value of a bimodal sequence in O(log n) comparisons. Bimodal: a cyclic shift of a sequence that
// strictly rises and then strictly falls. The two largest values may be equal, and so may the two smallest.
// Source: document 004 (docs/planar.md), "Fonction bimodale" (Chazelle and Dobkin). We differ: the source cuts with the
// line through f(1) and f(n), which needs values and does not cover f(1) = f(n) and f(1) = f(2). We compare with the
// left end of the interval, which needs only an order, so exact comparisons suffice. With a longer plateau no method
// below O(n) works: the peak of 0 0 0 0 5 0 0 0 is found only by looking at every value. Checked on every shift of
// every small sequence in tests/geometry/planar_bimodal_test.cpp
#pragma once

#include <cstddef>

namespace trocar::planar {

// Returns the index of a largest element of 0 .. n-1, n >= 1. compare(i, j) is the sign of f(i) - f(j).
template <class Compare>
std::size_t bimodal_maximum(std::size_t n, const Compare& compare) {
  if (n == 1) return 0;
  if (n == 2) return compare(1, 0) > 0 ? 1 : 0;
  const auto rise = [&](std::size_t i) { return compare(i + 1 < n ? i + 1 : 0, i); };
  const auto is_peak = [&](std::size_t i, int rise_after) {
    return rise_after <= 0 && compare(i, i > 0 ? i - 1 : n - 1) >= 0;
  };
  std::size_t low = 0, high = n;  // a peak lies in low < peak < high
  bool low_rises = rise(0) >= 0;
  if (is_peak(0, rise(0))) return 0;
  while (true) {
    const std::size_t middle = low + (high - low) / 2;
    const int rise_here = rise(middle);
    if (middle == low || is_peak(middle, rise_here)) return middle;
    const bool rises = rise_here >= 0;
    const bool keep_left =
        low_rises == rises ? (rises ? compare(low, middle) > 0 : compare(low, middle) < 0) : low_rises;
    if (keep_left) {
      high = middle;
    } else {
      low = middle;
      low_rises = rises;
    }
  }
}

// Returns the index of a smallest element.
template <class Compare>
std::size_t bimodal_minimum(std::size_t n, const Compare& compare) {
  return bimodal_maximum(n, [&](std::size_t i, std::size_t j) { return -compare(i, j); });
}

}  // namespace trocar::planar
