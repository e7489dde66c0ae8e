// Principal axes of a symmetric 3x3 matrix by Jacobi rotations: what turns a covariance into a box's axes.
// Units: any.   Checked against Eigen's solver in tests/cpu_collision/obb_eigen_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>

namespace trocar {

struct SymmetricMatrix3 {
  float xx = 0.f, yy = 0.f, zz = 0.f, xy = 0.f, xz = 0.f, yz = 0.f;
};

struct PrincipalAxes {
  std::array<glm::vec3, 3> axis;  // unit, orthogonal, right-handed; largest eigenvalue first
  glm::vec3 value;                // eigenvalues, descending
};

// The matrix 0 gives the world axes. Never fails: what is not a number stays so.
PrincipalAxes principal_axes(const SymmetricMatrix3& matrix);

}  // namespace trocar
