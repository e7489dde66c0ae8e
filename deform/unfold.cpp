#include "deform/unfold.hpp"

#include <algorithm>

namespace trocar {
float kSoft = .5, kHard = .1, kV = 2;
namespace {

// Volume spanned at every corner, cell by cell. rows: x, y, z of the four node rows of the run, (y, z) = 00, 10,
// 01, 11.
struct Rows {
  const float* p[4][3];
};

[[gnu::always_inline]] inline float corner(const Rows& rows, std::uint32_t i, int cx, int cy, int cz) {
  const auto& here = rows.p[cy + 2 * cz];
  const auto& beside = rows.p[1 - cy + 2 * cz];
  const auto& above = rows.p[cy + 2 * (1 - cz)];
  const std::uint32_t j = i + cx, k = i + 1 - cx;
  const float ax = here[0][k] - here[0][j], ay = here[1][k] - here[1][j], az = here[2][k] - here[2][j];
  const float bx = beside[0][j] - here[0][j], by = beside[1][j] - here[1][j], bz = beside[2][j] - here[2][j];
  const float dx = above[0][j] - here[0][j], dy = above[1][j] - here[1][j], dz = above[2][j] - here[2][j];
  const float volume = ax * (by * dz - bz * dy) + ay * (bz * dx - bx * dz) + az * (bx * dy - by * dx);
  return (cx + cy + cz) % 2 == 0 ? volume : -volume;
}

[[gnu::always_inline]] inline void measure_runs(const TissueModel& model, const SolidNodes& n, float* flatness) {
  const float h = model.params.node_spacing, scale = 1.f / (h * h * h);
  for (const CellRun& run : model.cell_runs) {
    Rows rows;
    for (int r = 0; r < 4; ++r)
      rows.p[r][0] = n.x + run.row[r], rows.p[r][1] = n.y + run.row[r], rows.p[r][2] = n.z + run.row[r];
    float* out = flatness + run.first;
#pragma GCC ivdep
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const float low = std::min(std::min(corner(rows, i, 0, 0, 0), corner(rows, i, 1, 0, 0)),
                                 std::min(corner(rows, i, 0, 1, 0), corner(rows, i, 1, 1, 0)));
      const float high = std::min(std::min(corner(rows, i, 0, 0, 1), corner(rows, i, 1, 0, 1)),
                                  std::min(corner(rows, i, 0, 1, 1), corner(rows, i, 1, 1, 1)));
      out[i] = std::min(low, high) * scale;
    }
  }
}

[[gnu::target("avx2")]] void measure_avx2(const TissueModel& model, const SolidNodes& n, float* flatness) {
  measure_runs(model, n, flatness);
}
void measure_sse2(const TissueModel& model, const SolidNodes& n, float* flatness) { measure_runs(model, n, flatness); }

glm::vec3 at(const SolidNodes& n, std::uint32_t node) { return {n.x[node], n.y[node], n.z[node]}; }

void move(const SolidNodes& n, std::uint32_t node, const glm::vec3& push) {
  const glm::vec3 by = n.inverse_mass[node] * push;
  n.x[node] += by.x, n.y[node] += by.y, n.z[node] += by.z;
}

}  // namespace

CornerVolume corner_volume(const glm::vec3& x, const glm::vec3& y, const glm::vec3& z) {
  return {glm::dot(x, glm::cross(y, z)), glm::cross(y, z), glm::cross(z, x), glm::cross(x, y)};
}

void measure_flatness(const TissueModel& model, const SolidNodes& nodes, std::span<float> flatness) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  avx2 ? measure_avx2(model, nodes, flatness.data()) : measure_sse2(model, nodes, flatness.data());
}

void unfold_cell(const TissueModel& model, std::size_t cell, const SolidNodes& n, float dt) {
  const float h = model.params.node_spacing, cube = h * h * h;
  const float compliance = 1.f / (kSqueezeStiffness * model.params.youngs_modulus * cube / 8.f * dt * dt);
  for (int corner = 0; corner < 8; ++corner) {
    const auto& nodes = model.cells[cell];
    const std::uint32_t node = nodes[corner], end_x = nodes[corner ^ 1], end_y = nodes[corner ^ 2],
                        end_z = nodes[corner ^ 4];
    const glm::vec3 p = at(n, node);
    // Edges of a corner with an odd number of coordinates at 1 form a left-handed frame.
    const float hand = __builtin_parity(corner) ? -1.f : 1.f;
    const CornerVolume c = corner_volume(hand * (at(n, end_x) - p), at(n, end_y) - p, at(n, end_z) - p);
    const float share = c.volume / cube;
    if (share >= kSqueezed) continue;

    const glm::vec3 x = hand * c.along_x / cube, y = c.along_y / cube, z = c.along_z / cube, o = -(x + y + z);
    const float w = n.inverse_mass[node] * glm::dot(o, o) + n.inverse_mass[end_x] * glm::dot(x, x) +
                    n.inverse_mass[end_y] * glm::dot(y, y) + n.inverse_mass[end_z] * glm::dot(z, z);
    if (!(w > 0.f)) continue;
    const float push = std::max((kSqueezed - share) / (w + compliance), (kFlat - share) / w);
    move(n, node, push * o);
    move(n, end_x, push * x);
    move(n, end_y, push * y);
    move(n, end_z, push * z);
  }
}

}  // namespace trocar
