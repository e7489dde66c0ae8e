#include "deform/stability.hpp"

#include <algorithm>
#include <cmath>

#include "deform/matrix.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr int kStabilityRounds = 80;
constexpr double kShare = 0.8;  // fraction used of the limit 4 in stability.hpp

// Displacements of the nodes of `cells`, scaled by the square root of their mass, and the nodes themselves.
struct Piece {
  std::vector<std::uint32_t> nodes;                   // sorted
  std::vector<std::array<std::uint32_t, 8>> corners;  // [cell] into nodes
  std::vector<double> scale;                          // [node] 1 / sqrt(mass)
};

Piece piece_of(const TissueModel& model, std::span<const std::uint32_t> cells) {
  Piece piece;
  for (const std::uint32_t cell : cells)
    for (const std::uint32_t node : model.lattice.cells[cell].node) piece.nodes.push_back(node);
  std::sort(piece.nodes.begin(), piece.nodes.end());
  piece.nodes.erase(std::unique(piece.nodes.begin(), piece.nodes.end()), piece.nodes.end());
  for (const std::uint32_t cell : cells) {
    std::array<std::uint32_t, 8> corners;
    for (int i = 0; i < 8; ++i)
      corners[i] = static_cast<std::uint32_t>(
          std::lower_bound(piece.nodes.begin(), piece.nodes.end(), model.lattice.cells[cell].node[i]) -
          piece.nodes.begin());
    piece.corners.push_back(corners);
  }
  for (const std::uint32_t node : piece.nodes)
    piece.scale.push_back(model.mass[node] > 0.f ? 1.0 / std::sqrt(static_cast<double>(model.mass[node])) : 0.0);
  return piece;
}

// Adds K u of one cell to f.
void add_cell(const TissueModel& model, std::uint32_t cell, const std::array<std::uint32_t, 8>& corners,
              std::span<const glm::dvec3> u, std::span<glm::dvec3> f) {
  const TissueParams& params = model.params;
  const bool rising = params.law == TissueLaw::Rising;
  const double fullness = model.lattice.cells[cell].fullness;
  const double fraction = spring_fraction(params.law, model.lattice.cells[cell].fullness);
  const std::array<double, 4> share = {0.0, spring_share(params, 1), spring_share(params, 2), spring_share(params, 3)};
  for (const CellSpring& s : cell_springs()) {
    const glm::ivec3 along = corner_offset(s.to) - corner_offset(s.from);
    const glm::dvec3 d(along);
    const double part = rising ? fraction * spring_weight(model.centre[cell], corner_offset(s.from), along) : 1.0;
    const glm::dvec3 pull =
        part * fullness * share[s.axes] / s.axes * glm::dot(u[corners[s.to]] - u[corners[s.from]], d) * d;
    f[corners[s.from]] -= pull, f[corners[s.to]] += pull;
  }
  if (rising) return add_matrix_cell(params, fullness, model.centre[cell], corners, u, f);
  double swell = 0.0;  // h times the change of J
  for (int i = 0; i < 8; ++i) swell += 0.25 * glm::dot(u[corners[i]], glm::dvec3(2 * corner_offset(i) - 1));
  const double push = fullness * volume_modulus(params) * params.node_spacing * swell / 4.0;
  for (int i = 0; i < 8; ++i) f[corners[i]] += push * glm::dvec3(2 * corner_offset(i) - 1);
}

double length_of(std::span<const glm::dvec3> u) {
  double square = 0.0;
  for (const glm::dvec3& v : u) square += glm::dot(v, v);
  return std::sqrt(square);
}

}  // namespace

double highest_frequency(const TissueModel& model, std::span<const std::uint32_t> cells) {
  const Piece piece = piece_of(model, cells);
  std::vector<glm::dvec3> u(piece.nodes.size()), scaled(u.size()), f(u.size());
  // An initial vector that is not orthogonal to any mode: neighbours move against each other, with small differences.
  for (std::size_t i = 0; i < u.size(); ++i) {
    const glm::ivec3 at = model.lattice.node_at[piece.nodes[i]];
    const double a = 12.9898 * at.x + 78.233 * at.y + 37.719 * at.z;
    u[i] = glm::dvec3(at.x & 1 ? 1 : -1, at.y & 1 ? 1 : -1, at.z & 1 ? 1 : -1) +
           glm::dvec3(elementary::sin(a), elementary::sin(2.0 * a), elementary::sin(3.0 * a));
  }
  double rate = 0.0;
  for (int iteration = 0; iteration < kStabilityRounds; ++iteration) {
    const double length = length_of(u);
    if (!(length > 0.0)) return 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) scaled[i] = piece.scale[i] / length * u[i];
    std::fill(f.begin(), f.end(), glm::dvec3(0.0));
    for (std::size_t c = 0; c < cells.size(); ++c) add_cell(model, cells[c], piece.corners[c], scaled, f);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = piece.scale[i] * f[i];
    rate = length_of(u);
  }
  return std::sqrt(rate);
}

float longest_substep(const TissueParams& params, double frequency) {
  const double beta = params.damping_time;
  if (!(frequency > 0.0)) return INFINITY;
  return static_cast<float>(std::sqrt(beta * beta + 4.0 * kShare / (frequency * frequency)) - beta);
}

}  // namespace trocar
