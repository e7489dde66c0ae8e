#include "deform/bond_stability.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deform/stability.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Power iteration approaches the largest eigenvalue from below; the margin covers the error after the last iteration.
constexpr int kIterations = 60;
constexpr double kMargin = 1.05;

// g of a fibre at the nodes of both ends. Zero at the wall and at nodes that do not move.
struct FibreRow {
  std::array<std::size_t, 16> node{};
  std::array<double, 16> g{};  // 1/sqrt(kg)
  double stiffness;            // N/m
};

// `first`: [organ] of its nodes in one list of all.
FibreRow row_of(const Fibre& fibre, std::span<const TissueModel* const> models, std::span<const std::size_t> first) {
  FibreRow row{.stiffness = static_cast<double>(fibre.stiffness)};
  std::size_t at = 0;
  double sign = 1.0;
  for (const BondEnd* end : {&fibre.a, &fibre.b}) {
    for (std::size_t i = 0; end->organ != kWall && i < 8; ++i, ++at) {
      const TissueModel& model = *models[end->organ];
      const std::uint32_t node = model.lattice.cells[end->cell].node[i];
      row.node[at] = first[end->organ] + node;
      row.g[at] = sign * static_cast<double>(end->weight[i]) * std::sqrt(static_cast<double>(model.inverse_mass[node]));
    }
    sign = -1.0;
  }
  return row;
}

// Sets `to` to the product of the fibres' matrix and `u`.
void multiply(std::span<const FibreRow> rows, std::span<const double> u, std::vector<double>& to) {
  for (double& x : to) x = 0.0;
  for (const FibreRow& row : rows) {
    double along = 0.0;
    for (std::size_t i = 0; i < 16; ++i) along += row.g[i] * u[row.node[i]];
    for (std::size_t i = 0; i < 16; ++i) to[row.node[i]] += row.stiffness * along * row.g[i];
  }
}

// Numbers the nodes that fibres hold, in ascending order: few of all nodes. Returns their numbers before.
std::vector<std::size_t> renumber(std::vector<FibreRow>& rows) {
  std::vector<std::size_t> held;
  for (const FibreRow& row : rows) held.insert(held.end(), row.node.begin(), row.node.end());
  std::ranges::sort(held);
  held.erase(std::unique(held.begin(), held.end()), held.end());
  for (FibreRow& row : rows)
    for (std::size_t& node : row.node)
      node = static_cast<std::size_t>(std::ranges::lower_bound(held, node) - held.begin());
  return held;
}

double length_of(std::span<const double> v) {
  double sum = 0.0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace

double own_square(const TissueModel& model) {
  const double beta = double(model.params.damping_time);
  const auto product = [beta](double dt) { return dt * dt + 2.0 * beta * dt; };
  return product(static_cast<double>(longest_substep(model.params, 1.0))) /
         product(static_cast<double>(model.longest_substep));
}

double bond_square(std::span<const TissueModel* const> models, const Bonds& bonds) {
  std::vector<std::size_t> first;  // [organ]
  std::size_t nodes = 0;
  for (const TissueModel* model : models) first.push_back(nodes), nodes += model->mass.size();
  std::vector<FibreRow> rows;
  for (const Fibre& fibre : bonds.fibres) rows.push_back(row_of(fibre, models, first));
  for (const Fibre& strut : bonds.struts) rows.push_back(row_of(strut, models, first));
  const std::vector<std::size_t> held = renumber(rows);
  // An initial vector that is not orthogonal to any mode: all fibres stretched, with small differences.
  std::vector<double> u(held.size(), 0.0), next(held.size(), 0.0);
  for (const FibreRow& row : rows)
    for (std::size_t i = 0; i < 16; ++i)
      u[row.node[i]] += row.stiffness * row.g[i] * (1.0 + 0.1 * elementary::sin(double(held[row.node[i]])));
  double largest = 0.0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double length = length_of(u);
    if (!(length > 0.0)) break;
    for (double& x : u) x /= length;
    multiply(rows, u, next);
    u.swap(next);
    largest = length_of(u);
  }
  return kMargin * largest;
}

void measure_slowdown(std::span<const TissueModel* const> models, Bonds& bonds) {
  bonds.slowdown.assign(models.size(), 1.f);
  const double square = bond_square(models, bonds);
  const auto slow_down = [&](std::uint32_t organ) {
    if (organ == kWall || bonds.slowdown[organ] > 1.f) return;
    const TissueModel& model = *models[organ];
    bonds.slowdown[organ] =
        std::max(1.f, model.longest_substep / longest_substep(model.params, std::sqrt(own_square(model) + square)));
  };
  for (const std::vector<Fibre>* fibres : {&bonds.fibres, &bonds.struts})
    for (const Fibre& fibre : *fibres) slow_down(fibre.a.organ), slow_down(fibre.b.organ);
}

}  // namespace trocar
