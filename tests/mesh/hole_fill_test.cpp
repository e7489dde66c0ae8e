// Tests the triangulation of holes: against all triangulations of small boundaries, and on plane outlines of any shape.
#include "mesh/repair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <random>

namespace trocar {
namespace {

using Points = std::vector<glm::dvec3>;

bool none_taken(std::uint32_t, std::uint32_t) { return false; }

double cost_of(const Points& corners, const std::vector<glm::uvec3>& faces) {
  double sum = 0.0;
  for (const glm::uvec3& f : faces) sum += fill_cost(corners[f.x], corners[f.y], corners[f.z]);
  return sum;
}

double area_of(const Points& corners, const std::vector<glm::uvec3>& faces) {
  double sum = 0.0;
  for (const glm::uvec3& f : faces)
    sum += 0.5 * glm::length(glm::cross(corners[f.y] - corners[f.x], corners[f.z] - corners[f.x]));
  return sum;
}

// The least cost over all triangulations of the corners from i to j, by plain recursion.
double least(const Points& corners, const EdgeTaken& taken, std::uint32_t i, std::uint32_t j) {
  if (j - i < 2) return 0.0;
  const bool last = i == 0 && j + 1 == corners.size();
  double best = INFINITY;
  if (!last && taken(i, j)) return best;
  for (std::uint32_t m = i + 1; m < j; ++m)
    best = std::min(best, least(corners, taken, i, m) + least(corners, taken, m, j) +
                              fill_cost(corners[i], corners[m], corners[j]));
  return best;
}

// Every edge of the boundary belongs to one face in its direction, every other edge to two in opposite directions.
void expect_closes(const std::vector<glm::uvec3>& faces, std::uint32_t corners) {
  EXPECT_EQ(faces.size(), corners - 2);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> net;
  for (const glm::uvec3& f : faces)
    for (int k = 0; k < 3; ++k) ++net[{f[k], f[(k + 1) % 3]}], --net[{f[(k + 1) % 3], f[k]}];
  for (const auto& [edge, count] : net) {
    const bool along = edge.second == (edge.first + 1) % corners, against = edge.first == (edge.second + 1) % corners;
    EXPECT_EQ(count, along ? 1 : against ? -1 : 0) << edge.first << " to " << edge.second;
  }
}

TEST(HoleFill, IsTheCheapestOfAllTriangulations) {
  const unsigned seed = 41;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(-0.01, 0.01);
  int impossible = 0;
  for (int round = 0; round < 300; ++round) {
    Points corners(3 + random() % 7);
    for (glm::dvec3& p : corners) p = {part(random), part(random), part(random)};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> used;
    for (std::size_t k = random() % (3 * corners.size()); k > 0; --k)
      used.emplace_back(random() % corners.size(), random() % corners.size());
    const EdgeTaken taken = [&](std::uint32_t a, std::uint32_t b) {
      return std::find(used.begin(), used.end(), std::pair(a, b)) != used.end();
    };
    const std::vector<glm::uvec3> faces = fill_hole(corners, taken);
    const double best = least(corners, taken, 0, static_cast<std::uint32_t>(corners.size() - 1));
    if (faces.empty()) {
      EXPECT_EQ(best, INFINITY);
      ++impossible;
      continue;
    }
    expect_closes(faces, static_cast<std::uint32_t>(corners.size()));
    EXPECT_NEAR(cost_of(corners, faces), best, 1e-15);
  }
  EXPECT_GE(impossible, 5);
  EXPECT_LT(impossible, 150);
}

TEST(HoleFill, ClosesAPlaneHoleExactlyWhateverItsOutline) {
  for (const int points : {5, 12, 60}) {
    Points star;  // its tips reach far beyond its notches
    double area = 0.0;
    for (int k = 0; k < 2 * points; ++k) {
      const double angle = std::numbers::pi * k / points, radius = k % 2 ? 0.004 : 0.02;
      star.emplace_back(radius * std::cos(angle), radius * std::sin(angle), 0.0);
    }
    for (std::size_t k = 0; k < star.size(); ++k) {
      const glm::dvec3 &p = star[k], &q = star[(k + 1) % star.size()];
      area += 0.5 * (p.x * q.y - p.y * q.x);
    }
    const std::vector<glm::uvec3> faces = fill_hole(star, none_taken);
    expect_closes(faces, static_cast<std::uint32_t>(star.size()));
    EXPECT_NEAR(area_of(star, faces) / area, 1.0, 1e-9) << points;
  }
}

TEST(HoleFill, BetweenEqualAreasTheShorterSidesDecide) {
  const Points kite{{-0.03, 0, 0}, {0, -0.01, 0}, {0.03, 0, 0}, {0, 0.01, 0}};
  for (const glm::uvec3& face : fill_hole(kite, none_taken))
    EXPECT_TRUE((face.x == 1 || face.y == 1 || face.z == 1) && (face.x == 3 || face.y == 3 || face.z == 3));
}

// Corners on straight lines: no face may lie on one.
TEST(HoleFill, AvoidsFacesWithoutArea) {
  Points square;
  for (int side = 0; side < 4; ++side)
    for (int k = 0; k < 10; ++k) {
      const double along = 0.002 * k - 0.01;
      square.push_back(side == 0   ? glm::dvec3(along, -0.01, 0)
                       : side == 1 ? glm::dvec3(0.01, along, 0)
                       : side == 2 ? glm::dvec3(-along, 0.01, 0)
                                   : glm::dvec3(-0.01, -along, 0));
    }
  const std::vector<glm::uvec3> faces = fill_hole(square, none_taken);
  expect_closes(faces, 40);
  for (const glm::uvec3& f : faces) {
    const glm::dvec3 normal = glm::cross(square[f.y] - square[f.x], square[f.z] - square[f.x]);
    EXPECT_GT(normal.z, 1e-7);
  }
  EXPECT_NEAR(area_of(square, faces), 4e-4, 1e-12);
}

TEST(HoleFill, ATriangleIsOneFace) {
  const Points corners{{0, 0, 0}, {0.01, 0, 0}, {0, 0.01, 0}};
  EXPECT_EQ(fill_hole(corners, none_taken), std::vector<glm::uvec3>{glm::uvec3(0, 1, 2)});
}

}  // namespace
}  // namespace trocar
