// Computes springs, volumes and tethers of the implicit reference solver.
#include "deform/reference/energy.hpp"

#include <Eigen/Dense>
#include <array>

#include "deform/implicit_curvature.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec3;

// Springs shorter than this have no direction; they exert no force.
constexpr double kShortestSpring = 1e-12;  // m

dvec3 anchor_of(const TissueModel& model, const Tether& tether, const dvec3& breath) {
  return dvec3(model.rest[tether.node]) + (tether.diaphragm ? breath : dvec3(0.0));
}

// Second derivatives of J = a . (b x c) and of (J - 1)^2 / 2 with respect to the nine components of the mean edges.
using Edges = std::array<dvec3, 3>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;
using Vector9 = Eigen::Matrix<double, 9, 1>;

void put_cross(Matrix9& into, int row, int column, const dvec3& v) {
  const double cross[3][3] = {{0.0, -v.z, v.y}, {v.z, 0.0, -v.x}, {-v.y, v.x, 0.0}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      into(3 * row + i, 3 * column + j) = cross[i][j];
      into(3 * column + j, 3 * row + i) = cross[i][j];
    }
}

Matrix9 second_derivative_of_volume(const Edges& e) {
  Matrix9 second = Matrix9::Zero();
  put_cross(second, 0, 1, -e[2]);
  put_cross(second, 0, 2, e[1]);
  put_cross(second, 1, 2, -e[0]);
  return second;
}

// One cell: its mean edges are sum over corners of sign * node / 4, in units of the spacing.
struct CellTerm {
  const LatticeCell& cell;
  double spacing;    // m
  double stiffness;  // J, bulk times h^3

  double sign(int corner, int axis) const { return (corner_offset(corner)[axis] ? 0.25 : -0.25) / spacing; }

  Edges mean_edges(std::span<const dvec3> x) const {
    Edges edges{dvec3(0.0), dvec3(0.0), dvec3(0.0)};
    for (int corner = 0; corner < 8; ++corner)
      for (int axis = 0; axis < 3; ++axis) edges[axis] += sign(corner, axis) * x[cell.node[corner]];
    return edges;
  }

  void add_curvature(const Matrix9& over_edges, Expansion& out) const {
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        if (cell.node[i] < cell.node[j]) continue;
        dmat3 block(0.0);
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l)
            for (int r = 0; r < 3; ++r)
              for (int c = 0; c < 3; ++c) block[c][r] += sign(i, k) * sign(j, l) * over_edges(3 * k + r, 3 * l + c);
        out.curvature.push_back({cell.node[i], cell.node[j], block});
      }
  }

  void add(std::span<const dvec3> x, Curvature curvature, Expansion& out) const {
    const Edges e = mean_edges(x);
    const Edges normal = {glm::cross(e[1], e[2]), glm::cross(e[2], e[0]), glm::cross(e[0], e[1])};
    const double strain = glm::dot(e[0], normal[0]) - 1.0;
    out.energy += 0.5 * stiffness * strain * strain;
    for (int corner = 0; corner < 8; ++corner)
      for (int axis = 0; axis < 3; ++axis)
        out.slope[cell.node[corner]] += stiffness * strain * sign(corner, axis) * normal[axis];
    if (curvature == Curvature::None) return;
    Vector9 first;
    for (int i = 0; i < 9; ++i) first(i) = normal[i / 3][i % 3];
    Matrix9 second = stiffness * (first * first.transpose() + strain * second_derivative_of_volume(e));
    if (curvature == Curvature::Convex) keep_positive_part(std::span<double, 81>(second.data(), 81));
    add_curvature(second, out);
  }
};

}  // namespace

void add_springs(const TissueModel& model, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  for_each_spring(model, [&](const Spring& s) {
    const double k = s.stiffness, rest = s.rest_length;
    const dvec3 d = x[s.b] - x[s.a];
    const double length = glm::length(d);
    out.energy += 0.5 * k * (length - rest) * (length - rest);
    if (length < kShortestSpring) return;
    const dvec3 n = d / length;
    out.slope[s.b] += k * (length - rest) * n;
    out.slope[s.a] -= k * (length - rest) * n;
    if (curvature == Curvature::None) return;
    double across = k * (1.0 - rest / length);
    if (curvature == Curvature::Convex) across = std::max(across, 0.0);
    const dmat3 block = across * dmat3(1.0) + (k - across) * glm::outerProduct(n, n);
    out.curvature.push_back({s.a, s.a, block});
    out.curvature.push_back({s.b, s.b, block});
    out.curvature.push_back({s.b, s.a, -block});
  });
}

void add_volumes(const TissueModel& model, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  if (model.params.law == TissueLaw::Rising) return add_matrix(model, x, curvature, out);
  const double h = model.lattice.spacing;
  for (std::size_t cell = 0; cell < model.lattice.cells.size(); ++cell) {
    const double bulk = model.bulk[model.bulk_index[cell]];
    if (bulk > 0.0) CellTerm{model.lattice.cells[cell], h, bulk * h * h * h}.add(x, curvature, out);
  }
}

void add_tethers(const TissueModel& model, std::span<const dvec3> x, const dvec3& breath, Expansion& out) {
  for (const Tether& tether : model.tethers) {
    const dvec3 away = x[tether.node] - anchor_of(model, tether, breath);
    out.energy += 0.5 * tether.stiffness * glm::dot(away, away);
    out.slope[tether.node] += double(tether.stiffness) * away;
    out.curvature.push_back({tether.node, tether.node, dmat3(double(tether.stiffness))});
  }
}

}  // namespace trocar
