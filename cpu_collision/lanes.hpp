// Computes with four floats at a time, for the trees. Every x86-64 has these instructions, so the program need not
// choose; other targets use the compiler's own vectors.   Tested through tests/cpu_collision/tree_test.cpp
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace trocar {

using Lanes4 = float __attribute__((vector_size(16)));
using Mask4 = std::int32_t __attribute__((vector_size(16)));

inline Lanes4 lanes(float all) { return Lanes4{all, all, all, all}; }                              // all four lanes
inline Lanes4 lanes(const glm::vec3& v, float last = 0.f) { return Lanes4{v.x, v.y, v.z, last}; }  // x, y, z, last

template <int lane>
Lanes4 splat(Lanes4 v) {  // this lane in all four
  return __builtin_shufflevector(v, v, lane, lane, lane, lane);
}

// Clears the sign bit of every lane.
inline Lanes4 abs(Lanes4 v) { return std::bit_cast<Lanes4>(std::bit_cast<Mask4>(v) & 0x7fffffff); }

// Sets lane 3 to 0.
inline Lanes4 first_three(Lanes4 v) { return std::bit_cast<Lanes4>(std::bit_cast<Mask4>(v) & Mask4{-1, -1, -1, 0}); }

inline Lanes4 min(Lanes4 a, Lanes4 b) {  // lane by lane; b where one is NaN
#if defined(__SSE2__)
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

inline Lanes4 max(Lanes4 a, Lanes4 b) {  // lane by lane; b where one is NaN
#if defined(__SSE2__)
  return _mm_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

inline Lanes4 sqrt(Lanes4 v) {  // lane by lane
#if defined(__SSE2__)
  return _mm_sqrt_ps(v);
#else
  return Lanes4{std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3])};
#endif
}

inline Lanes4 with_sign_of(Lanes4 size, Lanes4 sign) {  // lane by lane; all but the sign bit is of `size`
  const Mask4 sign_bit = std::bit_cast<Mask4>(lanes(-0.f));
  return std::bit_cast<Lanes4>((std::bit_cast<Mask4>(size) & ~sign_bit) | (std::bit_cast<Mask4>(sign) & sign_bit));
}

// Rows become columns.
inline void transpose(Lanes4& a, Lanes4& b, Lanes4& c, Lanes4& d) {
  const Lanes4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Lanes4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// Bit k is set when lane k is negative. With SSE2 -0 counts as negative.
inline int negative_lanes(Lanes4 v) {
#if defined(__SSE2__)
  return _mm_movemask_ps(v);
#else
  return (v[0] < 0.f) | (v[1] < 0.f) << 1 | (v[2] < 0.f) << 2 | (v[3] < 0.f) << 3;
#endif
}

inline float sum(Lanes4 v) {  // (v[0] + v[1]) + (v[2] + v[3]), in this order
  const Lanes4 pairs = v + __builtin_shufflevector(v, v, 1, 0, 3, 2);
  return (pairs + __builtin_shufflevector(pairs, pairs, 2, 3, 0, 1))[0];
}

// Returns the linear combination of the columns x, y, z with the coordinates of p. Lane k is the dot product of p with
// row k.
inline Lanes4 dot_rows(Lanes4 x, Lanes4 y, Lanes4 z, Lanes4 p) {
  return splat<0>(p) * x + splat<1>(p) * y + splat<2>(p) * z;
}

inline glm::vec3 xyz(Lanes4 v) { return {v[0], v[1], v[2]}; }  // without lane 3

}  // namespace trocar
