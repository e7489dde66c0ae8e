// Finds Young's modulus and the stiffenings of the law `rising` with which a specimen reproduces a measured curve.
// Forces are proportional to Young's modulus for given stiffenings, so the modulus follows from a linear fit (variable
// projection: Golub, Pereyra, SIAM J. Numer. Anal. 10, 1973); the two stiffenings from Gauss and Newton's method with
// difference quotients. An error counts relative to 10 % of the measured force or its standard deviation, whichever is
// larger. Poisson's ratio is given: a pressing test hardly shows it.
//
// Units: metres, newtons, pascals.   Tested in tests/deform/specimen_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/reference/specimen.hpp"

namespace trocar {

struct CurvePoint {
  double strain = 0.0;  // 1, displacement over the height of the specimen, > 0
  double force = 0.0;   // N
  double spread = 0.0;  // N, standard deviation; 0: not known
};

// How a curve is measured. Its strains become loads: `load` with `press` = sign times strain times height.
struct CurveTest {
  TriangleMesh mesh;  // in the axes of the specimen
  glm::dmat3 turn{1.0};
  SpecimenLoad load;
  double sign = 1.0;  // -1: pull
};

// Returns the force at each strain, ascending, by the energy. Throws RunError where no balance is found.
std::vector<double> curve_of(const CurveTest& test, const TissueParams& params, std::span<const CurvePoint> points);

// Returns the tolerance of a measured force, N: 10 % or the standard deviation, whichever is larger.
double tolerance_of(const CurvePoint& point);

// Returns `params` with the fitted modulus and stiffenings, and the law `rising`.
TissueParams fit_curve(const CurveTest& test, TissueParams params, std::span<const CurvePoint> points);

}  // namespace trocar
