// Tests tubes: closed, oriented, at their radius from the centre line, through the given points, without twist, and the
// faults of shapes that have no surface.
#include "mesh/tube_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "mesh/exact_sign.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::uint64_t kSeed = 20261123;

double distance_to_line(const std::vector<dvec3>& line, const dvec3& p) {
  double least = 1.0;
  for (std::size_t k = 1; k < line.size(); ++k) {
    const dvec3 d = line[k] - line[k - 1];
    const double t = glm::clamp(glm::dot(p - line[k - 1], d) / glm::dot(d, d), 0.0, 1.0);
    least = std::min(least, glm::distance(p, line[k - 1] + t * d));
  }
  return least;
}

TubeShape random_tube(Dice& dice) {
  TubeShape tube{{}, dice.log_uniform(5e-4, 5e-3)};
  dvec3 at = dice.in_cube(0.1), along = dice.direction();
  const int points = 2 + dice.pick(5);
  for (int k = 0; k < points; ++k) {
    tube.path.push_back(at);
    along = glm::normalize(along + 0.5 * dice.direction());
    at += dice.uniform(4.0, 12.0) * tube.radius * along;
  }
  return tube;
}

TEST(TubeShape, IsAClosedSolidWithoutCrossings) {
  Dice dice(kSeed);
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  int made = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const TubeShape tube = random_tube(dice);
    if (!tube_fault(tube).empty()) continue;
    ++made;
    const TriangleMesh mesh = tube_surface(tube);
    const SolidCheck check = check_solid(mesh.view());
    ASSERT_EQ(check.fault, "") << "trial " << trial;
    EXPECT_GT(check.volume, 0.0);
    EXPECT_TRUE(self_crossings(mesh.view()).pairs.empty()) << "trial " << trial;
    const std::vector<dvec3> line = centre_line(tube);
    for (const glm::vec3& p : mesh.positions)
      ASSERT_NEAR(distance_to_line(line, dvec3(p)), tube.radius, 0.1 * tube.radius) << "trial " << trial;
    for (const dvec3& point : tube.path) EXPECT_LT(distance_to_line(line, point), 0.1 * tube.radius);
  }
  EXPECT_GT(made, 120);
}

// A straight tube is a cylinder with two half balls, with the area of a decagon instead of that of a circle.
TEST(TubeShape, HasTheVolumeOfACylinderWithHalfBalls) {
  const double r = 2e-3, length = 0.03;
  const TubeShape tube{{{0, 0, 0}, {0, 0, 0.01}, {0, 0, length}}, r};
  const double decagon = 5.0 * std::sin(std::numbers::pi / 5.0);  // of the unit circle
  const double balls = 4.0 / 3.0 * std::numbers::pi * r * r * r;
  const double volume = check_solid(tube_surface(tube).view()).volume;
  EXPECT_NEAR(volume - decagon * r * r * length, balls, 0.2 * balls);
}

// The points of a ring face those of the next one: in a bend in space too, sides do not turn around the line.
TEST(TubeShape, DoesNotTwist) {
  TubeShape helix{{}, 1e-3};
  for (int k = 0; k < 12; ++k) helix.path.emplace_back(0.02 * std::cos(0.5 * k), 0.02 * std::sin(0.5 * k), 0.004 * k);
  ASSERT_EQ(tube_fault(helix), "");
  const TriangleMesh mesh = tube_surface(helix);
  const std::vector<dvec3> line = centre_line(helix);
  const auto along = [&](std::size_t k) {
    return glm::normalize(line[std::min(k + 1, line.size() - 1)] - line[k > 0 ? k - 1 : 0]);
  };
  const auto beside = [&](std::size_t ring, std::size_t side) {
    return glm::normalize(dvec3(mesh.positions[1 + 20 + 10 * ring + side]) - line[ring]);
  };
  for (std::size_t ring = 1; ring < line.size(); ++ring)
    for (std::size_t side = 0; side < 10; ++side)
      EXPECT_LE(glm::distance(beside(ring, side), beside(ring - 1, side)),
                1.02 * glm::distance(along(ring), along(ring - 1)) + 1e-4)
          << "ring " << ring;
}

TEST(TubeShape, SaysWhyThereIsNone) {
  const auto fault = [](std::vector<dvec3> path, double radius) { return tube_fault({std::move(path), radius}); };
  EXPECT_EQ(fault({{0, 0, 0}}, 1e-3), "it needs at least two points");
  EXPECT_EQ(fault({{0, 0, 0}, {0.01, 0, 0}, {0.01, 0, 0}}, 1e-3), "two points in a row are the same, [10, 0, 0]");
  EXPECT_NE(fault({{0, 0, 0}, {0.01, 0, 0}, {0, 0.001, 0}}, 2e-3).find("bends tighter"), std::string::npos);
  std::vector<dvec3> loop;
  for (int k = 0; k <= 16; ++k)
    loop.emplace_back(0.02 * std::cos(std::numbers::pi * k / 8), 0.02 * std::sin(std::numbers::pi * k / 8), 1e-4 * k);
  EXPECT_NE(fault(loop, 2e-3).find("overlaps itself"), std::string::npos);
  EXPECT_NE(fault({{0, 0, 0}, {10, 0, 0}}, 1e-3).find("longer than"), std::string::npos);
  std::vector<dvec3> many(101);
  for (std::size_t k = 0; k < many.size(); ++k) many[k].x = 1e-3 * double(k);
  EXPECT_EQ(fault(many, 1e-3), "it has more than 100 points");
  EXPECT_EQ(fault({{0, 0, 0}, {0.03, 0, 0}}, 2e-3), "");
}

}  // namespace
}  // namespace trocar
