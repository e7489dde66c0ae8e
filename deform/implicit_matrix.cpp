// Computes the matrix and the volumes of the law `rising` (matrix.hpp) for the implicit reference solver.
#include <Eigen/Dense>
#include <array>

#include "deform/implicit_curvature.hpp"
#include "deform/matrix.hpp"
#include "deform/reference/energy.hpp"
#include "deform/solid/elasticity.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec3;
using MatrixOfEdges = Eigen::Matrix<double, 9, 9>;
using EdgeVector = Eigen::Matrix<double, 9, 1>;

using CornerGradients = std::array<dvec3, 8>;  // [corner] 1/m, of its weight at the centroid of the tissue

// Component 3 k + r is component r of edge k at the centroid, over the spacing.
EdgeVector edges_of(const LatticeCell& cell, const CornerGradients& gradient, std::span<const dvec3> x) {
  EdgeVector edges = EdgeVector::Zero();
  for (int corner = 0; corner < 8; ++corner)
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 3; ++r) edges(3 * k + r) += gradient[corner][k] * x[cell.node[corner]][r];
  return edges;
}

dvec3 edge(const EdgeVector& edges, int k) { return {edges(3 * k), edges(3 * k + 1), edges(3 * k + 2)}; }

struct Volume {
  double value;      // 1, J
  EdgeVector first;  // 1, derivative with respect to the mean edges
  MatrixOfEdges second;
};

Volume volume_of(const EdgeVector& edges) {
  Volume volume{0.0, EdgeVector::Zero(), MatrixOfEdges::Zero()};
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    const dvec3 side = glm::cross(edge(edges, l), edge(edges, m)), e = edge(edges, m);
    for (int r = 0; r < 3; ++r) volume.first(3 * k + r) = side[r];
    // d (e_l x e_m) / d e_l = -[e_m]
    const double cross[3][3] = {{0.0, -e.z, e.y}, {e.z, 0.0, -e.x}, {-e.y, e.x, 0.0}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        volume.second(3 * k + i, 3 * l + j) = -cross[i][j];
        volume.second(3 * l + j, 3 * k + i) = -cross[i][j];
      }
  }
  volume.value = edges.head<3>().dot(volume.first.head<3>());
  return volume;
}

void add_curvature(const LatticeCell& cell, const CornerGradients& gradient, const MatrixOfEdges& over_edges,
                   Expansion& out) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      if (cell.node[i] < cell.node[j]) continue;
      Eigen::Matrix3d block = Eigen::Matrix3d::Zero();
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) block += gradient[i][k] * gradient[j][l] * over_edges.block<3, 3>(3 * k, 3 * l);
      dmat3 value;
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) value[c][r] = block(r, c);
      out.curvature.push_back({cell.node[i], cell.node[j], value});
    }
}

struct MatrixTerm {
  double shear, bulk;                  // J, moduli of a cell times its volume
  double stiffening, late_stiffening;  // 1

  void add(const LatticeCell& cell, const CornerGradients& gradient, std::span<const dvec3> x, Curvature curvature,
           Expansion& out) const {
    const EdgeVector edges = edges_of(cell, gradient, x);
    const Volume volume = volume_of(edges);
    const double swell = volume.value - 1.0;
    const Rise rise = rise_of(stiffening, late_stiffening, edges.squaredNorm() - 3.0 - 2.0 * swell);
    const EdgeVector first_of_q = 2.0 * (edges - volume.first);
    const EdgeVector slope = 0.5 * shear * rise.slope * first_of_q + bulk * swell * volume.first;
    out.energy += 0.5 * shear * rise.energy + 0.5 * bulk * swell * swell;
    for (int corner = 0; corner < 8; ++corner)
      for (int k = 0; k < 3; ++k) out.slope[cell.node[corner]] += gradient[corner][k] * edge(slope, k);
    if (curvature == Curvature::None) return;
    MatrixOfEdges second = shear * rise.slope * (MatrixOfEdges::Identity() - volume.second) +
                           0.5 * shear * rise.second * first_of_q * first_of_q.transpose() +
                           bulk * (volume.first * volume.first.transpose() + swell * volume.second);
    if (curvature == Curvature::Convex) keep_positive_part(std::span<double, 81>(second.data(), 81));
    add_curvature(cell, gradient, second, out);
  }
};

}  // namespace

void add_matrix(const TissueModel& model, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  const TissueParams& p = model.params;
  const double h = model.lattice.spacing;
  const double ratio = shear_modulus(p) / volume_modulus(p);
  for (std::size_t i = 0; i < model.lattice.cells.size(); ++i) {
    const double bulk = model.bulk[model.bulk_index[i]] * h * h * h;
    if (!(bulk > 0.0)) continue;
    CornerGradients gradient;
    const std::array<glm::vec3, 8> per_cell = corner_gradients(model.centre[i]);
    for (int k = 0; k < 8; ++k) gradient[k] = dvec3(per_cell[k]) / h;
    const double fraction = spring_fraction(p.law, model.lattice.cells[i].fullness);
    const MatrixTerm term{(1.0 - fraction) * ratio * bulk, (1.0 + (1.0 - 2.0 * fraction) * ratio) * bulk, p.stiffening,
                          p.late_stiffening};
    term.add(model.lattice.cells[i], gradient, x, curvature, out);
  }
}

}  // namespace trocar
