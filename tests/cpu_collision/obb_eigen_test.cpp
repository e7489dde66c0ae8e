// Compares the eigen solver for box axes with Eigen's, over ordinary, repeated, zero, tiny and huge eigenvalues.
#include "cpu_collision/trees/obb.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <random>

namespace trocar {
namespace {

constexpr unsigned kSeed = 424242;

glm::dvec3 vector_of(const Vectors& v, int k) { return {v.x[k], v.y[k], v.z[k]}; }

glm::dvec3 times(const Eigen::Matrix3d& m, const glm::dvec3& v) {
  const Eigen::Vector3d result = m * Eigen::Vector3d(v.x, v.y, v.z);
  return {result.x(), result.y(), result.z()};
}

Eigen::Matrix3d matrix_of(const SymmetricMatrices& m, int k) {
  Eigen::Matrix3d full;
  full << m.xx[k], m.xy[k], m.xz[k], m.xy[k], m.yy[k], m.yz[k], m.xz[k], m.yz[k], m.zz[k];
  return full;
}

void set_matrix(SymmetricMatrices& m, int k, const Eigen::Matrix3d& full) {
  m.xx[k] = float(full(0, 0)), m.yy[k] = float(full(1, 1)), m.zz[k] = float(full(2, 2));
  m.xy[k] = float(full(0, 1)), m.xz[k] = float(full(0, 2)), m.yz[k] = float(full(1, 2));
}

void expect_principal_axes(const SymmetricMatrices& matrices) {
  const PrincipalAxes axes = principal_axes(matrices);
  for (int k = 0; k < 4; ++k) {
    SCOPED_TRACE(testing::Message() << "lane " << k);
    const glm::dvec3 a = vector_of(axes.a, k), b = vector_of(axes.b, k), c = vector_of(axes.c, k);
    EXPECT_NEAR(glm::length(a), 1.0, 1e-6);
    EXPECT_NEAR(glm::length(b), 1.0, 1e-6);
    EXPECT_NEAR(glm::dot(a, b), 0.0, 1e-6);
    EXPECT_NEAR(glm::length(glm::cross(a, b) - c), 0.0, 1e-6);
    const Eigen::Matrix3d m = matrix_of(matrices, k);
    const Eigen::Vector3d expected = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(m).eigenvalues().reverse();
    const double scale = m.cwiseAbs().maxCoeff() + 1e-30;
    int which = 0;
    for (const glm::dvec3& axis : {a, b, c}) {
      EXPECT_LT(glm::length(times(m, axis) - expected[which] * axis) / scale, 5e-6) << "axis " << which;
      ++which;
    }
  }
}

// Returns a covariance with the given eigenvalues and random axes.
Eigen::Matrix3d with_values(std::mt19937& random, const Eigen::Vector3d& values) {
  std::normal_distribution<double> normal;
  const Eigen::Matrix3d q = Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random))
                                .normalized()
                                .toRotationMatrix();
  return q * values.asDiagonal() * q.transpose();
}

TEST(ObbEigen, MatchesEigen) {
  std::mt19937 random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::uniform_real_distribution<double> exponent(-12.0, 4.0), unit(0.0, 1.0);
  for (int trial = 0; trial < 5000 && !testing::Test::HasFailure(); ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    SymmetricMatrices four;
    for (int k = 0; k < 4; ++k) {
      Eigen::Vector3d values(unit(random), unit(random), unit(random));
      switch (random() % 7) {
        case 0:
          values[1] = values[0];
          break;  // a disc
        case 1:
          values.setConstant(values[0]);
          break;  // a ball
        case 2:
          values[1] = values[2] = 0.0;
          break;  // a needle
        case 3:
          values[2] *= 1e-9;
          break;  // flat
        case 4:
          values[1] = values[0] * (1.0 + 1e-7);
          break;  // nearly a disc
        case 5:
          values.setZero();
          break;
        default:
          break;
      }
      set_matrix(four, k, with_values(random, values * std::pow(10.0, exponent(random))));
    }
    expect_principal_axes(four);
  }
}

TEST(ObbEigen, DegenerateMatrices) {
  const Lanes4 zero = lanes(0.f), one = lanes(1.f);
  expect_principal_axes({zero, zero, zero, zero, zero, zero});
  expect_principal_axes({one, zero, zero, zero, zero, zero});
  expect_principal_axes({zero, zero, lanes(1e-20f), zero, zero, zero});
  expect_principal_axes({one, one, one, one, one, one});
  expect_principal_axes({one, one, one, -one, one, -one});
  expect_principal_axes({one, 2.f * one, 3.f * one, zero, zero, zero});
  expect_principal_axes({3.f * one, one, 2.f * one, zero, zero, zero});
  expect_principal_axes({zero, one, one, zero, zero, zero});
  expect_principal_axes({lanes(1e-30f), lanes(1e-30f), lanes(2e-30f), zero, lanes(1e-31f), zero});
}

// Values that differ in their last bits, as a cube's do: the rounding of the mean is as large as the differences.
TEST(ObbEigen, LastBits) {
  const Lanes4 zero = lanes(0.f), base = lanes(0.00851147622f), more = lanes(0.00851147715f),
               most = lanes(0.0085114781f);
  const std::array values{base, more, most};
  for (const Lanes4 x : values)
    for (const Lanes4 y : values)
      for (const Lanes4 z : values) expect_principal_axes({x, y, z, zero, zero, zero});
}

// Two equal eigenvalues and a tiny coupling between them: its square is denormal, or 0.
TEST(ObbEigen, TinyCouplingOfEqualEigenvalues) {
  const Lanes4 zero = lanes(0.f), one = lanes(1.f);
  for (float between = 1e-25f; between < 1e-5f; between *= 1.3f) {
    SCOPED_TRACE(between);
    expect_principal_axes({one, 0.5f * one, 0.5f * one, zero, zero, lanes(between)});
    expect_principal_axes({0.5f * one, one, 0.5f * one, zero, lanes(-between), zero});
  }
}

// A multiple of the identity has no axes of its own: it gets the world's, in their order and direction.
TEST(ObbEigen, MultiplesOfTheIdentityGetTheWorldAxes) {
  for (const float value : {0.f, 1e-20f, 1.f, 300.f}) {
    const Lanes4 all = lanes(value), zero = lanes(0.f);
    const PrincipalAxes axes = principal_axes({all, all, all, zero, zero, zero});
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(glm::vec3(axes.a.x[k], axes.a.y[k], axes.a.z[k]), glm::vec3(1, 0, 0));
      EXPECT_EQ(glm::vec3(axes.b.x[k], axes.b.y[k], axes.b.z[k]), glm::vec3(0, 1, 0));
      EXPECT_EQ(glm::vec3(axes.c.x[k], axes.c.y[k], axes.c.z[k]), glm::vec3(0, 0, 1));
    }
  }
}

// A NaN lane does not affect the other lanes.
TEST(ObbEigen, LanesAreIndependent) {
  SymmetricMatrices m{{1.f, 1.f, 1.f, 1.f}, {2.f, 2.f, 2.f, 2.f}, {4.f, 4.f, 4.f, 4.f}, {}, {}, {}};
  m.xx[1] = std::numeric_limits<float>::quiet_NaN();
  m.yy[2] = std::numeric_limits<float>::infinity();
  const PrincipalAxes axes = principal_axes(m);
  for (const int k : {0, 3}) {
    EXPECT_NEAR(std::abs(axes.a.z[k]), 1.f, 1e-6f);
    EXPECT_NEAR(std::abs(axes.b.y[k]), 1.f, 1e-6f);
  }
}

}  // namespace
}  // namespace trocar
