// Newton's method of the reference solvers: sparse direct factors, and a line search on the energy. With the exact
// curvature where it gives a descent direction, else with the convex one.
// A problem offers State, tolerance() and unbalanced(expansion) in one unit, most_iterations(), expand(state,
// Curvature) with its energy in `energy`, slope_of(expansion), curvature_of(expansion) (lower triangle), and
// moved(state, step, share).   Tested through tests/deform/elasticity_test.cpp and thin_reference_test.cpp
#pragma once

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <utility>

#include "deform/reference/energy.hpp"

namespace trocar {

using SparseMatrix = Eigen::SparseMatrix<double>;

// A step is accepted when the energy decreases by at least this fraction of the predicted decrease (Armijo condition).
constexpr double kSufficientDecrease = 1e-4;
// After this many halvings the step is below rounding error.
constexpr int kMostHalvings = 40;
// The diagonal of the convex curvature grows by this share, for motions that nothing resists.
constexpr double kFirmer = 1e-6;

struct NewtonResult {
  double unbalanced = 0.0;  // the largest residual
  int iterations = 0;
  bool balanced = false;  // within the tolerance
};

// Newton's step. Empty: it would not lead downwards.
template <class Problem, class Expanded>
Eigen::VectorXd newton_step(const Problem& problem, const Expanded& here, Curvature curvature) {
  SparseMatrix matrix = problem.curvature_of(here);
  if (curvature == Curvature::Convex)
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) matrix.coeffRef(i, i) *= 1.0 + kFirmer;
  const Eigen::SimplicialLDLT<SparseMatrix> solver(matrix);
  if (solver.info() != Eigen::Success || !(solver.vectorD().minCoeff() > 0.0)) return {};
  return -solver.solve(problem.slope_of(here));
}

// Line search along `step` until the energy decreases sufficiently; close to balance, where energy differences drown in
// rounding error, until the residual decreases. False: no step length works.
template <class Problem, class Expanded>
bool search_along(const Problem& problem, const Eigen::VectorXd& step, const Expanded& here,
                  typename Problem::State& x) {
  const double promise = step.dot(problem.slope_of(here)), residual = problem.unbalanced(here);
  double share = 1.0;
  for (int halving = 0; halving < kMostHalvings; ++halving, share *= 0.5) {
    typename Problem::State tried = problem.moved(x, step, share);
    const auto there = problem.expand(tried, Curvature::None);
    const bool lower = there.energy <= here.energy + kSufficientDecrease * share * promise;
    if (!lower && !(share == 1.0 && problem.unbalanced(there) < 0.5 * residual)) continue;
    x = std::move(tried);
    return true;
  }
  return false;
}

// Moves `x` to a minimum of the energy. `iterations`: how many are done already.
template <class Problem>
NewtonResult find_minimum(const Problem& problem, typename Problem::State& x, int iterations = 0) {
  for (NewtonResult result{0.0, iterations, false};; ++result.iterations) {
    const auto here = problem.expand(x, Curvature::Exact);
    result.unbalanced = problem.unbalanced(here);
    result.balanced = result.unbalanced <= problem.tolerance();
    if (result.balanced || result.iterations >= problem.most_iterations()) return result;
    const auto descends = [&](const auto& expansion, Curvature curvature) {
      const Eigen::VectorXd step = newton_step(problem, expansion, curvature);
      return step.size() > 0 && search_along(problem, step, here, x);
    };
    if (!descends(here, Curvature::Exact) && !descends(problem.expand(x, Curvature::Convex), Curvature::Convex))
      return result;
  }
}

}  // namespace trocar
