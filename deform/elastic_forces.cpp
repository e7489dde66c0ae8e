#include "deform/elastic_forces.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

// Keeps a collapsed spring from dividing zero by zero; far below any real length squared.
constexpr float kSmallestSquare = 1e-20f;  // m^2

// Work is cut into pieces of this many springs or cells, whose forces wait in the first cache.
constexpr std::uint32_t kPiece = 32;

struct Columns {
  const float *x, *y, *z;
  float *fx, *fy, *fz;
};

// to[i] += from[i]
[[gnu::always_inline]] inline void add(float* __restrict to, const float* __restrict from, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) to[i] += from[i];
}
[[gnu::always_inline]] inline void subtract(float* __restrict to, const float* __restrict from, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) to[i] -= from[i];
}

// Springs a + i to b + i, i < count <= kPiece, a multiple of kLanes. A node may be both a first and a second end, so
// forces are summed apart from where they are made.
[[gnu::always_inline]] inline void spring_piece(const Columns& c, std::uint32_t a, std::uint32_t b,
                                                const float* __restrict stiffness, float rest_length,
                                                std::uint32_t count) {
  alignas(64) float px[kPiece], py[kPiece], pz[kPiece];
  const float *ax = c.x + a, *ay = c.y + a, *az = c.z + a, *bx = c.x + b, *by = c.y + b, *bz = c.z + b;
  for (std::uint32_t i = 0; i < count; ++i) {
    const float dx = bx[i] - ax[i], dy = by[i] - ay[i], dz = bz[i] - az[i];
    const float length = std::sqrt(std::max(dx * dx + dy * dy + dz * dz, kSmallestSquare));
    const float pull = stiffness[i] * (length - rest_length) / length;
    px[i] = pull * dx, py[i] = pull * dy, pz[i] = pull * dz;
  }
  add(c.fx + a, px, count), add(c.fy + a, py, count), add(c.fz + a, pz, count);
  subtract(c.fx + b, px, count), subtract(c.fy + b, py, count), subtract(c.fz + b, pz, count);
}

// One coordinate of the four node rows of a row of cells, (y, z) = 00, 10, 01, 11, and its mean edges times four.
struct RowCoordinate {
  const float *r00, *r10, *r01, *r11;
  RowCoordinate(const float* p, const CellRow& row, std::uint32_t i)
      : r00(p + row.row[0] + i), r10(p + row.row[1] + i), r01(p + row.row[2] + i), r11(p + row.row[3] + i) {}

  [[gnu::always_inline]] void edges(std::uint32_t i, float& a, float& b, float& c) const {
    const float s00 = r00[i] + r00[i + 1], s10 = r10[i] + r10[i + 1];
    const float s01 = r01[i] + r01[i + 1], s11 = r11[i] + r11[i + 1];
    a = (r00[i + 1] - r00[i]) + (r10[i + 1] - r10[i]) + (r01[i + 1] - r01[i]) + (r11[i + 1] - r11[i]);
    b = (s10 + s11) - (s00 + s01);
    c = (s01 + s11) - (s00 + s10);
  }
};

// Forces of a piece of a row along one axis: u on the corners of higher x, v of higher y, w of higher z, against it on
// the others.
struct PieceForces {
  alignas(64) float u[kPiece], v[kPiece], w[kPiece];
};

[[gnu::always_inline]] inline void spread(const PieceForces& p, const CellRow& row, std::uint32_t first,
                                          std::uint32_t count, float* f) {
  alignas(64) float low[kPiece], high[kPiece];
  for (int r = 0; r < 4; ++r) {
    const float sy = r & 1 ? 1.f : -1.f, sz = r & 2 ? 1.f : -1.f;
    for (std::uint32_t i = 0; i < count; ++i) {
      const float across = sy * p.v[i] + sz * p.w[i];
      low[i] = across - p.u[i];
      high[i] = across + p.u[i];
    }
    add(f + row.row[r] + first, low, count);
    add(f + row.row[r] + first + 1, high, count);
  }
}

[[gnu::always_inline]] inline void cell_piece(const Columns& c, const CellRow& row, std::uint32_t first,
                                              const float* __restrict bulk, float spacing, std::uint32_t count) {
  const RowCoordinate x(c.x, row, first), y(c.y, row, first), z(c.z, row, first);
  const float per_volume = 1.f / (64.f * spacing * spacing * spacing);
  const float per_sides = 1.f / (256.f * 3.f * kLargestSides * spacing * spacing * spacing * spacing);
  PieceForces fx, fy, fz;
  for (std::uint32_t i = 0; i < count; ++i) {
    float ax, ay, az, bx, by, bz, cx, cy, cz;
    x.edges(i, ax, bx, cx);
    y.edges(i, ay, by, cy);
    z.edges(i, az, bz, cz);
    const float ux = by * cz - bz * cy, uy = bz * cx - bx * cz, uz = bx * cy - by * cx;
    const float vx = cy * az - cz * ay, vy = cz * ax - cx * az, vz = cx * ay - cy * ax;
    const float wx = ay * bz - az * by, wy = az * bx - ax * bz, wz = ax * by - ay * bx;
    const float swell = (ax * ux + ay * uy + az * uz) * per_volume - 1.f;
    const float sides = (ux * ux + uy * uy + uz * uz) + (vx * vx + vy * vy + vz * vz) + (wx * wx + wy * wy + wz * wz);
    // Edges are four times, areas sixteen times too large.
    const float push = -bulk[i] * swell / (64.f * std::max(sides * per_sides, 1.f));
    fx.u[i] = push * ux, fx.v[i] = push * vx, fx.w[i] = push * wx;
    fy.u[i] = push * uy, fy.v[i] = push * vy, fy.w[i] = push * wy;
    fz.u[i] = push * uz, fz.v[i] = push * vz, fz.w[i] = push * wz;
  }
  spread(fx, row, first, count, c.fx);
  spread(fy, row, first, count, c.fy);
  spread(fz, row, first, count, c.fz);
}

[[gnu::always_inline]] inline void add_all(const TissueModel& model, const Columns& c) {
  for (const SpringRow& row : model.spring_rows)
    for (std::uint32_t i = 0; i < row.count; i += kPiece)
      spring_piece(c, row.a + i, row.b + i, model.stiffness.data() + row.first + i, row.rest_length,
                   std::min(kPiece, row.count - i) & ~(kLanes - 1));
  const float spacing = model.params.node_spacing;
  for (const CellRow& row : model.cell_rows)
    for (std::uint32_t i = 0; i < row.count; i += kPiece)
      cell_piece(c, row, i, model.bulk.data() + row.first + i, spacing,
                 std::min(kPiece, row.count - i) & ~(kLanes - 1));
}

[[gnu::target("avx2")]] void add_all_avx2(const TissueModel& model, const Columns& c) { add_all(model, c); }

Columns columns_of(const NodeColumns& x, NodeColumns& force) {
  return {x.x.data(), x.y.data(), x.z.data(), force.x.data(), force.y.data(), force.z.data()};
}

bool has_avx2() {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  return avx2;
}

}  // namespace

void add_elastic_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  has_avx2() ? add_all_avx2(model, columns_of(x, force)) : add_all(model, columns_of(x, force));
}

void add_elastic_forces_sse2(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  add_all(model, columns_of(x, force));
}

const char* force_instructions() { return has_avx2() ? "avx2" : "sse2"; }

}  // namespace trocar
