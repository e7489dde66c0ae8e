// Returns the curvature of a cell's energy without its negative part, for Newton's method (implicit_terms.hpp).
#pragma once

#include <Eigen/Dense>

namespace trocar {

using Matrix9 = Eigen::Matrix<double, 9, 9>;  // over the three mean edges of a cell; symmetric
using Vector9 = Eigen::Matrix<double, 9, 1>;

inline Matrix9 positive_part(const Matrix9& m) {
  const Eigen::SelfAdjointEigenSolver<Matrix9> solver(m);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() * solver.eigenvectors().transpose();
}

}  // namespace trocar
