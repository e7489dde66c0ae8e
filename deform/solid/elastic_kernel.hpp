// Implements the loops of elastic_forces for eight springs or cells at a time. One source file per instruction set
// includes this file and contains only the loops; the compiler maps Lanes to that instruction set. All operations and
// their order are the same for each, and so are the bits of the result.
// Formulas: elastic_forces.hpp.
#pragma once

// The calling convention for eight floats without AVX does not matter: everything here is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#include <cstring>

#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"

namespace trocar {
namespace {

using Lanes = float __attribute__((vector_size(sizeof(float) * kLanes)));

// Prevents 0 / 0 for a collapsed spring; far below any real squared length.
constexpr float kSmallestSquare = 1e-20f;  // m^2

[[gnu::always_inline]] inline Lanes load(const float* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
[[gnu::always_inline]] inline void store(float* p, Lanes v) { std::memcpy(p, &v, sizeof(v)); }
[[gnu::always_inline]] inline void add_to(float* p, Lanes v) { store(p, load(p) + v); }
[[gnu::always_inline]] inline void take_from(float* p, Lanes v) { store(p, load(p) - v); }
[[gnu::always_inline]] inline Lanes all(float value) { return value - Lanes{}; }
[[gnu::always_inline]] inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Lanes root(Lanes v) {
#if defined(__wasm_simd128__)
  // Clang does not find these two instructions in the loop below.
  v128_t halves[2];
  std::memcpy(halves, &v, sizeof v);
  for (v128_t& half : halves) half = wasm_f32x4_sqrt(half);
  std::memcpy(&v, halves, sizeof v);
  return v;
#else
  Lanes r;
  for (std::uint32_t i = 0; i < kLanes; ++i) r[i] = __builtin_sqrtf(v[i]);
  return r;
#endif
}
// Returns the left neighbour of every lane: the last lane of `before`, then all lanes of `v` but the last.
[[gnu::always_inline]] inline Lanes left_of(Lanes before, Lanes v) {
  return __builtin_shufflevector(before, v, 7, 8, 9, 10, 11, 12, 13, 14);
}

struct Lanes3 {
  Lanes x, y, z;
};
[[gnu::always_inline]] inline Lanes3 operator-(const Lanes3& a, const Lanes3& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[gnu::always_inline]] inline Lanes3 operator+(const Lanes3& a, const Lanes3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
[[gnu::always_inline]] inline Lanes3 operator*(Lanes s, const Lanes3& a) { return {s * a.x, s * a.y, s * a.z}; }
[[gnu::always_inline]] inline Lanes dot(const Lanes3& a, const Lanes3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
[[gnu::always_inline]] inline Lanes3 cross(const Lanes3& a, const Lanes3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[gnu::always_inline]] inline Lanes3 left_of(const Lanes3& before, const Lanes3& v) {
  return {left_of(before.x, v.x), left_of(before.y, v.y), left_of(before.z, v.z)};
}

struct Columns {
  const float *x, *y, *z;
  float *fx, *fy, *fz;

  Lanes3 at(std::uint32_t node) const { return {load(x + node), load(y + node), load(z + node)}; }
  void push(std::uint32_t node, const Lanes3& f) const {
    add_to(fx + node, f.x), add_to(fy + node, f.y), add_to(fz + node, f.z);
  }
  void push_back(std::uint32_t node, const Lanes3& f) const {
    take_from(fx + node, f.x), take_from(fy + node, f.y), take_from(fz + node, f.z);
  }
};

[[gnu::always_inline]] inline Lanes3 pull_of(const Lanes3& d, Lanes stiffness, Lanes rest_length) {
  const Lanes length = root(larger(dot(d, d), all(kSmallestSquare)));
  return (stiffness * (length - rest_length) / length) * d;
}

// Most rows of springs that are processed together: rows that begin at the same node and end in different lattice rows.
constexpr std::size_t kSideBySide = 5;

// Rows that begin at the same nodes, processed side by side, eight nodes at a time: their forces on those nodes are
// summed before they are stored. kAlong: the springs of the first row are consecutive, so every node is the second end
// of the previous spring, and the last entry of the row is empty.
template <int kRows, bool kAlong>
[[gnu::always_inline]] inline void springs_of_rows(const Columns& c, const SpringRow* rows, const float* stiffness) {
  Lanes3 before{};
  for (std::uint32_t i = 0; i < rows[0].count; i += kLanes) {
    const std::uint32_t a = rows[0].a + i;
    const Lanes3 here = c.at(a);
    Lanes3 sum{};
#pragma GCC unroll 5
    for (int r = 0; r < kRows; ++r) {
      const std::uint32_t b = rows[r].b + i;
      const Lanes3 pull = pull_of(c.at(b) - here, load(stiffness + rows[r].first + i), all(rows[r].rest_length));
      if (kAlong && r == 0) {
        sum = pull - left_of(before, pull);
        before = pull;
      } else {
        sum = sum + pull;
        c.push_back(b, pull);
      }
    }
    c.push(a, sum);
  }
}

template <bool kAlong>
[[gnu::always_inline]] inline void springs_side_by_side(const Columns& c, const SpringRow* rows, std::size_t count,
                                                        const float* stiffness) {
  switch (count) {
    case 1:
      return springs_of_rows<1, kAlong>(c, rows, stiffness);
    case 2:
      return springs_of_rows<2, kAlong>(c, rows, stiffness);
    case 3:
      return springs_of_rows<3, kAlong>(c, rows, stiffness);
    case 4:
      return springs_of_rows<4, kAlong>(c, rows, stiffness);
    default:
      return springs_of_rows<kSideBySide, kAlong>(c, rows, stiffness);
  }
}

// Returns how many of the rows from `rows` to `end` begin at the same nodes as the first and can be processed together
// with it.
[[gnu::always_inline]] inline std::size_t side_by_side(const SpringRow* rows, const SpringRow* end) {
  const SpringRow* row = rows + 1;
  while (row < end && row < rows + kSideBySide && row->a == rows->a && row->count == rows->count &&
         row->b != row->a + 1)
    ++row;
  return static_cast<std::size_t>(row - rows);
}

[[gnu::always_inline]] inline void add_springs(const Columns& c, const SpringRow* rows, const SpringRow* end,
                                               const float* stiffness) {
  while (rows < end) {
    const std::size_t count = side_by_side(rows, end);
    if (rows->b == rows->a + 1)
      springs_side_by_side<true>(c, rows, count, stiffness);
    else
      springs_side_by_side<false>(c, rows, count, stiffness);
    rows += count;
  }
}

// Sums of the edges of eight cells along x, y, z: four times the mean edges.
struct Edges {
  Lanes3 a, b, c;
};
[[gnu::always_inline]] inline Edges edges_of(const Columns& c, const CellRow& row, std::uint32_t i) {
  Lanes3 sum[4], a{};
  for (int r = 0; r < 4; ++r) {
    const Lanes3 here = c.at(row.row[r] + i), next = c.at(row.row[r] + i + 1);
    sum[r] = here + next;
    a = a + (next - here);
  }
  return {a, (sum[1] + sum[3]) - (sum[0] + sum[2]), (sum[2] + sum[3]) - (sum[0] + sum[1])};
}

// Along x, the far corners of cell i - 1 and the near corners of cell i are the same nodes. The last entry of a row is
// empty.
[[gnu::always_inline]] inline void cells_of_row(const Columns& c, const CellRow& row, const float* bulk,
                                                float spacing) {
  // Edges are four times too large, areas sixteen times, volumes 64 times.
  const float volume = spacing * spacing * spacing, per_volume = 1.f / (64.f * volume);
  const float per_sides = 1.f / (256.f * 3.f * kLargestSides * spacing * volume);
  Lanes3 u_before{}, v_before{}, w_before{};
  for (std::uint32_t i = 0; i < row.count; i += kLanes) {
    const Edges e = edges_of(c, row, i);
    const Lanes3 bc = cross(e.b, e.c), ca = cross(e.c, e.a), ab = cross(e.a, e.b);
    const Lanes swell = smaller(larger(dot(e.a, bc) * per_volume - 1.f, all(-kMostShrink)), all(kMostSwell));
    const Lanes sides = (dot(bc, bc) + dot(ca, ca) + dot(ab, ab)) * per_sides;
    const Lanes push = load(bulk + i) * swell / (-64.f * larger(sides, all(1.f)));
    const Lanes3 u = push * bc, v = push * ca, w = push * ab;
    const Lanes3 along = u - left_of(u_before, u);
    const Lanes3 v2 = v + left_of(v_before, v), w2 = w + left_of(w_before, w);
    const Lanes3 both = v2 + w2, apart = v2 - w2;
    c.push_back(row.row[0] + i, both + along);
    c.push(row.row[1] + i, apart - along);
    c.push_back(row.row[2] + i, apart + along);
    c.push(row.row[3] + i, both - along);
    u_before = u, v_before = v, w_before = w;
  }
}

inline void add_all(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  const Columns c{x.x.data(), x.y.data(), x.z.data(), force.x.data(), force.y.data(), force.z.data()};
  const float *stiffness = model.stiffness.data(), *bulk = model.bulk.data();
  add_springs(c, model.spring_rows.data(), model.spring_rows.data() + model.spring_rows.size(), stiffness);
  if (model.params.law == TissueLaw::Rising) return add_matrix_forces(model, x, force);
  for (const CellRow& row : model.cell_rows) cells_of_row(c, row, bulk + row.first, model.params.node_spacing);
}

}  // namespace
}  // namespace trocar
