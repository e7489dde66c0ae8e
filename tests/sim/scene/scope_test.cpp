// Compares the scope's directions and its lens with their definitions.
#include "sim/scene/scope.hpp"

#include <gtest/gtest.h>

#include <random>

namespace trocar::scope_test {
namespace {

constexpr unsigned kSeed = 20261;

glm::dvec3 random_direction(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return glm::normalize(glm::dvec3(normal(random), normal(random), normal(random)));
}

ScopePose random_pose(std::mt19937& random) {
  std::uniform_real_distribution<double> spin(-180.0, 180.0);
  ScopePose pose;
  pose.port = {0.01, -0.02, 0.3};
  pose.eye = pose.port + 0.16 * random_direction(random);
  pose.spin_deg = spin(random);
  return pose;
}

double angle_deg(const glm::dvec3& a, const glm::dvec3& b) {
  return glm::degrees(std::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b)));
}

TEST(Scope, AxesAreOrthonormalAndRightHanded) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int k = 0; k < 1000; ++k) {
    ScopePose pose = random_pose(random);
    pose.angle_deg = k % 2 ? 30.0 : 0.0;
    const ScopeAxes axes = axes_of(pose);
    const glm::dmat3 frame(axes.right, axes.up, -axes.forward);
    const glm::dmat3 product = glm::transpose(frame) * frame;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) EXPECT_NEAR(product[i][j], i == j ? 1.0 : 0.0, 1e-12);
    EXPECT_NEAR(glm::determinant(frame), 1.0, 1e-12);
  }
}

TEST(Scope, ViewHasItsAngleToTheRodAtEverySpin) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int k = 0; k < 1000; ++k) {
    ScopePose pose = random_pose(random);
    EXPECT_NEAR(angle_deg(axes_of(pose).forward, pose.eye - pose.port), 0.0, 1e-9);
    pose.angle_deg = 30.0;
    EXPECT_NEAR(angle_deg(axes_of(pose).forward, pose.eye - pose.port), 30.0, 1e-9);
  }
}

// The picture stays level: its right axis is horizontal.
TEST(Scope, PictureStaysLevel) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int k = 0; k < 200; ++k) {
    ScopePose pose = random_pose(random);
    pose.angle_deg = 30.0;
    const ScopeAxes axes = axes_of(pose);
    if (std::abs(axes.forward.y) > 0.999) continue;
    EXPECT_NEAR(axes.right.y, 0.0, 1e-12);
    EXPECT_GT(axes.up.y, 0.0);
  }
}

// Tests the view direction at 30 degrees, in the picture of the same rod at 0 degrees.
TEST(Scope, SpinZeroLooksUpAndPositiveSpinIsClockwise) {
  ScopePose straight{{0.0, -0.1, 0.3}, {0.02, 0.0, 0.18}};
  const ScopeAxes picture = axes_of(straight);
  for (const double spin : {0.0, 90.0, 180.0, 270.0}) {
    ScopePose askew = straight;
    askew.angle_deg = 30.0;
    askew.spin_deg = spin;
    const glm::dvec3 forward = axes_of(askew).forward;
    const double clockwise_from_top =
        glm::degrees(std::atan2(glm::dot(forward, picture.right), glm::dot(forward, picture.up)));
    EXPECT_NEAR(std::fmod(clockwise_from_top + 360.0 + 1e-9, 360.0), spin, 1e-6);
  }
}

TEST(Scope, ARodAlongTheWorldsUpHasAxes) {
  const ScopePose pose{{0, -0.2, 0}, {0, 0, 0}};
  const ScopeAxes axes = axes_of(pose);
  EXPECT_NEAR(glm::length(axes.right), 1.0, 1e-12);
  EXPECT_NEAR(axes.up.z, -1.0, 1e-12);
}

TEST(Scope, LookingAtHitsTheTarget) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int k = 0; k < 500; ++k) {
    const glm::dvec3 eye = 0.3 * random_direction(random), target = eye + 0.15 * random_direction(random);
    // Near the world's up a level picture turns fast: no scope is used in this position.
    if (std::abs(glm::normalize(target - eye).y) > 0.85) continue;
    const double angle = k % 2 ? 30.0 : 0.0, spin = 37.0 * k;
    const ScopePose pose = scope_looking_at(eye, target, angle, spin, 0.2);
    EXPECT_NEAR(glm::length(glm::cross(axes_of(pose).forward, target - eye)), 0.0, 1e-9) << "m, spin " << spin;
    EXPECT_GT(glm::dot(axes_of(pose).forward, target - eye), 0.0);
    EXPECT_NEAR(glm::distance(pose.port, pose.eye), 0.2, 1e-12);
  }
}

TEST(Lens, InverseRestoresThePoint) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> coordinate(-1.5, 1.5);
  for (const double barrel : {0.0, 0.08, 0.3}) {
    const Lens lens{barrel, 1.16};
    for (int k = 0; k < 300; ++k) {
      const glm::dvec2 pinhole(coordinate(random), coordinate(random)), seen = seen_from_pinhole(lens, pinhole);
      EXPECT_NEAR(glm::distance(pinhole_from_seen(lens, seen), pinhole), 0.0, 1e-12);
      EXPECT_LE(glm::length(seen), glm::length(pinhole) + 1e-15);  // barrel distortion contracts
    }
  }
  EXPECT_EQ(seen_from_pinhole({0.3, 1.16}, {0.0, 0.0}), glm::dvec2(0.0));
}

// r_u = r_d / (1 - k r_d^2) solved by bisection, not by the closed form.
TEST(Lens, FollowsTheDivisionModel) {
  const Lens lens{0.12, 1.16};
  for (const double wanted : {0.1, 0.5, 0.9, 1.3}) {
    double low = 0.0, high = 1.0 / std::sqrt(lens.barrel) - 1e-9;
    for (int k = 0; k < 200; ++k) {
      const double middle = 0.5 * (low + high);
      (middle / (1.0 - lens.barrel * middle * middle) < wanted ? low : high) = middle;
    }
    EXPECT_NEAR(seen_from_pinhole(lens, {wanted, 0.0}).x, low, 1e-12);
  }
}

TEST(Lens, ImageCameraProjectsAsSeenPointDoes) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> aside(-0.05, 0.05), depth(0.05, 0.3);
  for (int k = 0; k < 300; ++k) {
    ScopePose pose = random_pose(random);
    pose.angle_deg = 30.0;
    pose.field_of_view_deg = 70.0;
    const ScopeAxes axes = axes_of(pose);
    const glm::dvec3 point =
        pose.eye + depth(random) * axes.forward + aside(random) * axes.right + aside(random) * axes.up;
    const planar::ImageCamera camera = image_camera(pose, 1.6);
    const glm::dvec4 clip = camera.view_projection * glm::dvec4(point, 1.0);
    const glm::dvec2 pinhole = glm::dvec2(clip.x * camera.aspect, clip.y) / clip.w;
    const Lens lens{0.1, 1.16};
    EXPECT_NEAR(glm::distance(seen_point(pose, lens, point).location, seen_from_pinhole(lens, pinhole)), 0.0, 1e-9);
  }
}

TEST(Lens, SeesPointsInFrontOfItWithinTheField) {
  const ScopePose pose{{0, 0, 0.3}, {0, 0, 0.1}};  // looks along -z
  const Lens lens;
  EXPECT_TRUE(seen_point(pose, lens, {0, 0, 0}).visible);
  EXPECT_FALSE(seen_point(pose, lens, {0, 0, 0.2}).visible);
  EXPECT_FALSE(seen_point(pose, lens, {0.2, 0, 0}).visible);
  EXPECT_GT(seen_point(pose, lens, {0, 0.01, 0}).location.y, 0.0);
  EXPECT_GT(seen_point(pose, lens, {0.01, 0, 0}).location.x, 0.0);
}

}  // namespace
}  // namespace trocar::scope_test
