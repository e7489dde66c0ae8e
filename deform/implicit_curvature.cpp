#include "deform/implicit_curvature.hpp"

#include <Eigen/Dense>

namespace trocar {

void keep_positive_part(std::span<double, 81> matrix) {
  using Square = Eigen::Matrix<double, 9, 9>;
  Eigen::Map<Square> m(matrix.data());
  const Eigen::SelfAdjointEigenSolver<Square> solver(m);
  m = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() * solver.eigenvectors().transpose();
}

}  // namespace trocar
