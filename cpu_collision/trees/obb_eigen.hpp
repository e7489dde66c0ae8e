// Computes the principal axes of symmetric 3x3 matrices, four at a time and in closed form. They turn covariances into
// box axes. The code has no convergence loop and no branch, because a tree needs thousands of axes per frame.
// Based on: Smith, "Eigenvalues of a symmetric 3x3 matrix", CACM 1961, for the eigenvalue that stands apart; the other
// two axes come from one rotation about its axis, which stays well defined when their eigenvalues coincide. Units: any.
// Checked against Eigen's solver in tests/cpu_collision/obb_eigen_test.cpp
#pragma once

#include "cpu_collision/lanes.hpp"

namespace trocar {

struct SymmetricMatrices {
  Lanes4 xx, yy, zz, xy, xz, yz;  // lane k: matrix k
};

struct Vectors {
  Lanes4 x, y, z;
};

struct PrincipalAxes {
  Vectors a, b, c;  // unit, orthogonal, right-handed; a of the largest eigenvalue, c of the smallest
};

// A multiple of the identity, including 0, gives the world axes. Never fails: NaN gives arbitrary axes.
PrincipalAxes principal_axes(const SymmetricMatrices& matrices);

}  // namespace trocar
