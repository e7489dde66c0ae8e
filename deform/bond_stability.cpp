#include "deform/bond_stability.hpp"

#include <array>
#include <cmath>

#include "deform/stability.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Power iteration approaches the largest eigenvalue from below; the margin covers what is left after the iterations.
constexpr int kIterations = 60;
constexpr double kMargin = 1.05;

// One end of a fibre, as a row of the bounding matrix of its organ.
struct EndRow {
  std::array<std::uint32_t, 8> node;
  std::array<double, 8> g;  // 1/sqrt(kg)
  double stiffness;         // N/m, with the factor 1 + t
};

// Returns g of an end; zero at the wall and at nodes that do not move.
std::array<double, 8> scaled_weights(const BondEnd& end, std::span<const TissueModel* const> models) {
  std::array<double, 8> g{};
  if (end.organ == kWall) return g;
  const TissueModel& model = *models[end.organ];
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t node = model.lattice.cells[end.cell].node[i];
    g[i] = static_cast<double>(end.weight[i]) * std::sqrt(static_cast<double>(model.inverse_mass[node]));
  }
  return g;
}

double square_of(std::span<const double> v) {
  double sum = 0.0;
  for (const double x : v) sum += x * x;
  return sum;
}

void add_rows(const Fibre& fibre, std::span<const TissueModel* const> models, std::vector<std::vector<EndRow>>& rows) {
  const std::array<const BondEnd*, 2> ends = {&fibre.a, &fibre.b};
  const std::array<std::array<double, 8>, 2> g = {scaled_weights(*ends[0], models), scaled_weights(*ends[1], models)};
  const double both = square_of(g[0]) + square_of(g[1]);
  for (std::size_t side = 0; side < 2; ++side) {
    const double own = square_of(g[side]);
    if (!(own > 0.0)) continue;
    rows[ends[side]->organ].push_back({models[ends[side]->organ]->lattice.cells[ends[side]->cell].node, g[side],
                                       static_cast<double>(fibre.stiffness) * both / own});
  }
}

// Returns the largest eigenvalue of the sum of k g g^T over the rows, by power iteration.
double largest_eigenvalue(std::span<const EndRow> rows, std::size_t nodes) {
  std::vector<double> u(nodes, 0.0), next(nodes, 0.0);
  // An initial vector that is not orthogonal to any mode: what a pull on all fibres moves, with small differences.
  for (const EndRow& row : rows)
    for (std::size_t i = 0; i < 8; ++i)
      u[row.node[i]] += row.stiffness * std::abs(row.g[i]) * (1.0 + 0.1 * elementary::sin(double(row.node[i])));
  double largest = 0.0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double length = std::sqrt(square_of(u));
    if (!(length > 0.0)) return largest;
    for (double& x : u) x /= length;
    for (double& x : next) x = 0.0;
    for (const EndRow& row : rows) {
      double along = 0.0;
      for (std::size_t i = 0; i < 8; ++i) along += row.g[i] * u[row.node[i]];
      for (std::size_t i = 0; i < 8; ++i) next[row.node[i]] += row.stiffness * along * row.g[i];
    }
    u.swap(next);
    largest = std::sqrt(square_of(u));
  }
  return kMargin * largest;
}

}  // namespace

double own_square(const TissueModel& model) {
  const double beta = double(model.params.damping_time);
  const auto product = [beta](double dt) { return dt * dt + 2.0 * beta * dt; };
  return product(static_cast<double>(longest_substep(model.params, 1.0))) /
         product(static_cast<double>(model.longest_substep));
}

std::vector<double> bond_squares(std::span<const TissueModel* const> models, const Bonds& bonds) {
  std::vector<std::vector<EndRow>> rows(models.size());
  for (const Fibre& fibre : bonds.fibres) add_rows(fibre, models, rows);
  for (const Fibre& strut : bonds.struts) add_rows(strut, models, rows);
  std::vector<double> squares;
  for (std::size_t k = 0; k < models.size(); ++k)
    squares.push_back(largest_eigenvalue(rows[k], models[k]->mass.size()));
  return squares;
}

void measure_slowdown(std::span<const TissueModel* const> models, Bonds& bonds) {
  bonds.slowdown.assign(models.size(), 1.f);
  const std::vector<double> squares = bond_squares(models, bonds);
  for (std::size_t k = 0; k < models.size(); ++k) {
    const TissueModel& model = *models[k];
    if (!(squares[k] > 0.0)) continue;
    bonds.slowdown[k] =
        model.longest_substep / longest_substep(model.params, std::sqrt(own_square(model) + squares[k]));
  }
}

}  // namespace trocar
