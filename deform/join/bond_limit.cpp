// Bounds the frequencies of organs that fibres join, for the longest stable substep. The largest eigenvalue of the
// lattices around the fibres' ends, with the fibres, comes from a few steps of Lanczos' method on these cells alone:
// the mode that it belongs to does not reach further than a cell or two.
// Source: Lanczos, "An iteration method for the solution of the eigenvalue problem of linear differential and integral
// operators", J. Res. Natl. Bur. Stand. 45, 1950.
// Units: metres, kilograms, seconds, newtons.   Tested against dense eigenvalues of the whole system in
// tests/deform/bonds_test.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "deform/join/bonds.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// The method approaches the largest eigenvalue from below; the margin covers what is missing after the last step, and
// the tissue that is left out.
constexpr int kLanczosSteps = 20;
constexpr double kMargin = 1.1;
// Cells in this many rings around the nodes of fibres' ends count.
constexpr int kRings = 1;

// The fibres that join a tube with one organ.
struct TubeJoint {
  std::uint32_t tube, other;
  double stiffness = 0.0;            // N/m, of all fibres
  std::vector<std::uint32_t> edges;  // of the tube that they hold, ascending
};

// Returns the stiffness with which a rod resists its edges being moved in a substep: that of an endless chain of its
// edges and nodes on one side, whose inertia counts as mass / dt^2.
double resistance_of(const TissueModel& tube, double dt) {
  double most = 0.0;
  for (const TubeRod& rod : tube.tube.rods)
    for (std::size_t e = 0; e < rod.model.length.size(); ++e) {
      const double edge = rod.model.stretch / rod.model.length[e];
      const double inertia = std::max(rod.model.mass[e], rod.model.mass[e + 1]) / (dt * dt);
      most = std::max(most, 0.5 * inertia + std::sqrt(0.25 * inertia * inertia + inertia * edge));
    }
  return most;
}

std::vector<TubeJoint> joints_of(std::span<const TissueModel* const> models, const Bonds& bonds) {
  std::vector<TubeJoint> joints;
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f)
    for (int side = 0; bonds.intact[f] && side < 2; ++side) {
      const Fibre& fibre = bonds.fibres[f];
      const BondEnd &end = side == 0 ? fibre.a : fibre.b, &other = side == 0 ? fibre.b : fibre.a;
      if (!on_tube(end, models)) continue;
      auto joint = std::ranges::find_if(
          joints, [&](const TubeJoint& j) { return j.tube == end.organ && j.other == other.organ; });
      if (joint == joints.end()) joint = joints.insert(joints.end(), {end.organ, other.organ, 0.0, {}});
      joint->stiffness += static_cast<double>(fibre.stiffness);
      const auto heaviest = std::ranges::max_element(end.weight) - end.weight.begin();
      const std::uint32_t node = models[end.organ]->lattice.cells[end.cell].node[static_cast<std::size_t>(heaviest)];
      const std::uint32_t edge = models[end.organ]->tube.nodes[node].carrier;
      if (const auto at = std::ranges::lower_bound(joint->edges, edge); at == joint->edges.end() || *at != edge)
        joint->edges.insert(at, edge);
    }
  return joints;
}

// Returns the share of a fibre's stiffness that the organ at its other end feels within a substep: the rod of a tube
// yields (springs in series).
double felt_share(const Fibre& fibre, std::span<const TubeJoint> joints, std::span<const TissueModel* const> models) {
  double share = 1.0;
  for (int side = 0; side < 2; ++side) {
    const BondEnd &end = side == 0 ? fibre.a : fibre.b, &other = side == 0 ? fibre.b : fibre.a;
    if (!on_tube(end, models) || other.organ == kWall) continue;
    const auto joint =
        std::ranges::find_if(joints, [&](const TubeJoint& j) { return j.tube == end.organ && j.other == other.organ; });
    const double rod = 2.0 * static_cast<double>(joint->edges.size()) *
                       resistance_of(*models[end.organ], static_cast<double>(models[other.organ]->longest_substep));
    share = std::min(share, rod / (rod + joint->stiffness));
  }
  return share;
}

// What limits the substep around the fibres: their ends, the cells around them, and the nodes of both, numbered.
class JoinedTissue {
 public:
  JoinedTissue(std::span<const TissueModel* const> models, const Bonds& bonds) : models_(models) {
    for (const TissueModel* model : models) number_.emplace_back(model->mass.size(), kNoNumber);
    const std::vector<TubeJoint> joints = joints_of(models, bonds);
    for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
      const Fibre& fibre = bonds.fibres[f];
      if (!bonds.intact[f]) continue;
      if (on_sheet(fibre.a, models) || on_sheet(fibre.b, models)) continue;  // their force is that of the sheet's step
      add_row(fibre, felt_share(fibre, joints, models));
    }
    for (const Fibre& strut : bonds.struts) add_row(strut, 1.0);
    for (std::uint32_t organ = 0; organ < models.size(); ++organ) add_cells_around(organ);
  }

  std::size_t size() const { return scale_.size(); }

  // All fibres stretched and neighbours moved against each other, with small differences: orthogonal to no mode.
  std::vector<glm::dvec3> first_motion() const {
    std::vector<glm::dvec3> u(size(), glm::dvec3(0.0));
    for (const Row& row : rows_)
      for (std::size_t i = 0; i < row.count; ++i)
        u[row.node[i]] += row.stiffness * row.g[i] * (1.0 + 0.1 * elementary::sin(static_cast<double>(row.node[i])));
    const double length = length_of(u), each = 1.0 / std::sqrt(3.0 * static_cast<double>(size()));
    for (std::size_t n = 0; n < size(); ++n) {
      const double a = static_cast<double>(n);
      const glm::dvec3 apart(elementary::sin(12.9898 * a), elementary::sin(78.233 * a), elementary::sin(37.719 * a));
      u[n] = (length > 0.0 ? u[n] / length : glm::dvec3(0.0)) + each * (sign_[n] + apart);
    }
    return u;
  }

  // Sets `to` to the matrix times `u`.
  void multiply(std::span<const glm::dvec3> u, std::vector<glm::dvec3>& to) {
    moved_.resize(size());
    for (std::size_t n = 0; n < size(); ++n) moved_[n] = scale_[n] * u[n];
    std::fill(to.begin(), to.end(), glm::dvec3(0.0));
    for (const Cell& cell : cells_)
      add_rest_stiffness(*models_[cell.organ], cell.cell, number_[cell.organ], moved_, to);
    for (std::size_t n = 0; n < size(); ++n) to[n] *= scale_[n];
    for (const Row& row : rows_) {
      glm::dvec3 along(0.0);
      for (std::size_t i = 0; i < row.count; ++i) along += row.g[i] * u[row.node[i]];
      for (std::size_t i = 0; i < row.count; ++i) to[row.node[i]] += row.stiffness * row.g[i] * along;
    }
  }

  static double length_of(std::span<const glm::dvec3> u) {
    double square = 0.0;
    for (const glm::dvec3& v : u) square += glm::dot(v, v);
    return std::sqrt(square);
  }

 private:
  // g of a fibre at the nodes of both ends that may move.
  struct Row {
    std::array<std::uint32_t, 16> node{};
    std::array<double, 16> g{};  // 1/sqrt(kg)
    std::size_t count = 0;
    double stiffness;  // N/m
  };
  struct Cell {
    std::uint32_t organ, cell;
  };

  std::uint32_t number_of(std::uint32_t organ, std::uint32_t node) {
    std::uint32_t& number = number_[organ][node];
    if (number != kNoNumber) return number;
    number = static_cast<std::uint32_t>(size());
    scale_.push_back(std::sqrt(static_cast<double>(models_[organ]->inverse_mass[node])));
    const glm::ivec3 at = models_[organ]->lattice.node_at[node];
    sign_.emplace_back(at.x & 1 ? 1 : -1, at.y & 1 ? 1 : -1, at.z & 1 ? 1 : -1);
    return number;
  }

  // Tubes and sheets take their end implicitly and set no limit.
  void add_row(const Fibre& fibre, double share) {
    Row row{.stiffness = share * static_cast<double>(fibre.stiffness)};
    double sign = 1.0;
    for (const BondEnd* end : {&fibre.a, &fibre.b}) {
      for (std::size_t i = 0; end->organ != kWall && !on_thin(*end, models_) && i < 8; ++i) {
        const std::uint32_t node = models_[end->organ]->lattice.cells[end->cell].node[i];
        const auto inverse_mass = static_cast<double>(models_[end->organ]->inverse_mass[node]);
        if (!(inverse_mass > 0.0) || end->weight[i] == 0.f) continue;
        row.node[row.count] = number_of(end->organ, node);
        row.g[row.count++] = sign * static_cast<double>(end->weight[i]) * std::sqrt(inverse_mass);
      }
      sign = -1.0;
    }
    if (row.count > 0) rows_.push_back(row);
  }

  // Goes outwards ring by ring from the nodes that have a number.
  void add_cells_around(std::uint32_t organ) {
    const TissueModel& model = *models_[organ];
    if (is_thin(model)) return;
    std::vector<char> listed(model.lattice.cells.size());
    for (int ring = 0; ring < kRings; ++ring) {
      const std::size_t before = cells_.size();
      for (std::uint32_t c = 0; c < listed.size(); ++c) {
        const LatticeCell& cell = model.lattice.cells[c];
        if (listed[c] || !(cell.volume_fraction > 0.f) ||
            std::ranges::none_of(cell.node, [&](std::uint32_t n) { return number_[organ][n] != kNoNumber; }))
          continue;
        listed[c] = 1;
        cells_.push_back({organ, c});
      }
      for (std::size_t k = before; k < cells_.size(); ++k)
        for (const std::uint32_t node : model.lattice.cells[cells_[k].cell].node) number_of(organ, node);
    }
  }

  std::span<const TissueModel* const> models_;
  std::vector<std::vector<std::uint32_t>> number_;  // [organ][node]
  std::vector<double> scale_;                       // [number] 1/sqrt(kg), 0: does not move
  std::vector<glm::dvec3> sign_;                    // [number] 1, opposite at neighbours
  std::vector<Row> rows_;
  std::vector<Cell> cells_;
  std::vector<glm::dvec3> moved_;
};

// Returns how many eigenvalues of a symmetric matrix of three diagonals are below `x` (Sturm's sequence).
int eigenvalues_below(std::span<const double> diagonal, std::span<const double> beside, double x) {
  int count = 0;
  double pivot = 1.0;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    pivot = diagonal[k] - x - (k > 0 ? beside[k - 1] * beside[k - 1] / pivot : 0.0);
    if (pivot == 0.0) pivot = -1e-300;
    if (pivot < 0.0) ++count;
  }
  return count;
}

double largest_eigenvalue(std::span<const double> diagonal, std::span<const double> beside) {
  double low = 0.0, high = 0.0;
  for (std::size_t k = 0; k < diagonal.size(); ++k)
    high = std::max(high, diagonal[k] + (k > 0 ? beside[k - 1] : 0.0) + (k < beside.size() ? beside[k] : 0.0));
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = 0.5 * (low + high);
    (eigenvalues_below(diagonal, beside, middle) < static_cast<int>(diagonal.size()) ? low : high) = middle;
  }
  return high;
}

}  // namespace

double own_square(const TissueModel& model) {
  const double beta = double(model.params.damping_time);
  const auto product = [beta](double dt) { return dt * dt + 2.0 * beta * dt; };
  return product(static_cast<double>(longest_substep(model.params, 1.0))) /
         product(static_cast<double>(model.longest_substep));
}

double bond_square(std::span<const TissueModel* const> models, const Bonds& bonds) {
  JoinedTissue tissue(models, bonds);
  std::vector<glm::dvec3> u = tissue.first_motion(), next(u.size()), before(u.size(), glm::dvec3(0.0));
  std::vector<double> diagonal, beside;
  double length = JoinedTissue::length_of(u);
  const double negligible = 1e-9;
  for (int step = 0; step < kLanczosSteps && length > 0.0; ++step) {
    for (glm::dvec3& v : u) v /= length;
    tissue.multiply(u, next);
    double along = 0.0;
    for (std::size_t n = 0; n < u.size(); ++n) along += glm::dot(u[n], next[n]);
    const double last = step > 0 ? length : 0.0;
    for (std::size_t n = 0; n < u.size(); ++n) next[n] -= along * u[n] + last * before[n];
    if (step > 0) beside.push_back(length);
    diagonal.push_back(along);
    before.swap(u), u.swap(next);
    length = JoinedTissue::length_of(u);
    if (!(length > negligible * std::abs(along))) break;
  }
  return diagonal.empty() ? 0.0 : kMargin * largest_eigenvalue(diagonal, beside);
}

void measure_slowdown(std::span<const TissueModel* const> models, Bonds& bonds) {
  bonds.slowdown.assign(models.size(), 1.f);
  if (bonds.empty()) return;
  const double square = bond_square(models, bonds);
  const auto slow_down = [&](std::uint32_t organ) {
    if (organ == kWall || bonds.slowdown[organ] > 1.f || is_thin(*models[organ])) return;
    const TissueModel& model = *models[organ];
    bonds.slowdown[organ] = std::max(1.f, model.longest_substep / longest_substep(model.params, std::sqrt(square)));
  };
  for (const std::vector<Fibre>* fibres : {&bonds.fibres, &bonds.struts})
    for (const Fibre& fibre : *fibres)
      if (!on_sheet(fibre.a, models) && !on_sheet(fibre.b, models)) slow_down(fibre.a.organ), slow_down(fibre.b.organ);
}

}  // namespace trocar
