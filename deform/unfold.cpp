#include "deform/unfold.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/quaternion.hpp>

#include "geometry/machine.hpp"
#include "geometry/turn.hpp"

namespace trocar {
namespace {

// Volumes at every corner, cell by cell. rows: x, y, z of the four node rows of the run, (y, z) = 00, 10,
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

[[gnu::always_inline]] inline void measure_rows(const TissueModel& model, const NodeColumns& x, float* flatness) {
  const float h = model.params.node_spacing, scale = 1.f / (h * h * h);
  for (const CellRow& row : model.cell_rows) {
    Rows rows;
    for (int r = 0; r < 4; ++r)
      rows.p[r][0] = x.x.data() + row.row[r], rows.p[r][1] = x.y.data() + row.row[r],
      rows.p[r][2] = x.z.data() + row.row[r];
    float* out = flatness + row.first;
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (std::uint32_t i = 0; i < row.count; ++i) {
      const float low = std::min(std::min(corner(rows, i, 0, 0, 0), corner(rows, i, 1, 0, 0)),
                                 std::min(corner(rows, i, 0, 1, 0), corner(rows, i, 1, 1, 0)));
      const float high = std::min(std::min(corner(rows, i, 0, 0, 1), corner(rows, i, 1, 0, 1)),
                                  std::min(corner(rows, i, 0, 1, 1), corner(rows, i, 1, 1, 1)));
      out[i] = std::min(low, high) * scale;
    }
  }
}

[[gnu::target("avx2")]] void measure_avx2(const TissueModel& model, const NodeColumns& x, float* flatness) {
  measure_rows(model, x, flatness);
}
void measure_sse2(const TissueModel& model, const NodeColumns& x, float* flatness) { measure_rows(model, x, flatness); }

glm::vec3 at(const NodeColumns& c, std::uint32_t node) { return {c.x[node], c.y[node], c.z[node]}; }

std::uint32_t node_of(const CrushedCell& cell, int corner) { return cell.row[corner >> 1] + (corner & 1); }

// Returns the smallest corner volume, relative to that at rest.
float flatness_of(const glm::vec3 (&p)[8], float spacing) {
  float least = INFINITY;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::vec3 a = p[corner ^ 1] - p[corner], b = p[corner ^ 2] - p[corner], c = p[corner ^ 4] - p[corner];
    const float volume = glm::dot(a, glm::cross(b, c));
    least = std::min(least, __builtin_parity(corner) ? -volume : volume);
  }
  return least / (spacing * spacing * spacing);
}

// Returns the mean edges of a cell along x, y, z, relative to the rest length.
glm::mat3 mean_edges(const glm::vec3 (&p)[8], float spacing) {
  glm::mat3 edges(0.f);
  for (int corner = 0; corner < 8; ++corner)
    for (int axis = 0; axis < 3; ++axis) edges[axis] += (corner >> axis & 1 ? 1.f : -1.f) * p[corner];
  return edges / (4.f * spacing);
}

}  // namespace

void measure_flatness(const TissueModel& model, const NodeColumns& x, std::span<float> flatness) {
  static const bool avx2 = instructions() >= Instructions::Avx2;
  avx2 ? measure_avx2(model, x, flatness.data()) : measure_sse2(model, x, flatness.data());
}

glm::mat3 nearest_rotation(const glm::mat3& f) {
  constexpr int kMostTurns = 20;
  constexpr float kSmallestTurn = 1e-4f;  // rad
  glm::quat q(1.f, 0.f, 0.f, 0.f);
  for (int i = 0; i < kMostTurns; ++i) {
    const glm::mat3 r = glm::mat3_cast(q);
    const glm::vec3 twist = glm::cross(r[0], f[0]) + glm::cross(r[1], f[1]) + glm::cross(r[2], f[2]);
    const float along = glm::dot(r[0], f[0]) + glm::dot(r[1], f[1]) + glm::dot(r[2], f[2]);
    const glm::vec3 turn = twist / (std::abs(along) + 1e-9f);
    const float angle = glm::length(turn);
    if (!(angle > kSmallestTurn)) break;
    q = glm::normalize(glm::quat(turn_about(glm::dvec3(turn / angle), angle)) * q);
  }
  return glm::mat3_cast(q);
}

void add_unfolding_forces(const TissueModel& model, const CrushedCell& cell, const NodeColumns& x, const NodeColumns& v,
                          NodeColumns& force) {
  const float spacing = model.params.node_spacing;
  glm::vec3 p[8], centre(0.f), drift(0.f);
  for (int corner = 0; corner < 8; ++corner) {
    p[corner] = at(x, node_of(cell, corner));
    centre += 0.125f * p[corner];
    drift += 0.125f * at(v, node_of(cell, corner));
  }
  // Increases gradually from half the rest volume to none. A node may have eight such cells around it; together they
  // must not make it stiffer than the substeps allow.
  const float need = std::clamp((kSqueezed - flatness_of(p, spacing)) / kSqueezed, 0.f, 1.f);
  if (!(need > 0.f)) return;
  const glm::mat3 turned = nearest_rotation(mean_edges(p, spacing));
  const float stiffness = cell.fullness * need * model.params.unfolding * model.params.youngs_modulus * spacing;
  const float damping = need * model.params.crush_damping * cell.fullness * model.cell_mass / 8.f;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::vec3 rest = spacing * (glm::vec3(corner & 1, corner >> 1 & 1, corner >> 2) - 0.5f);
    const std::uint32_t node = node_of(cell, corner);
    const glm::vec3 pull = stiffness * (centre + turned * rest - p[corner]) + damping * (drift - at(v, node));
    force.x[node] += pull.x, force.y[node] += pull.y, force.z[node] += pull.z;
  }
}

}  // namespace trocar
