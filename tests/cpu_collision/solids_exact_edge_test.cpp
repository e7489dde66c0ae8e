// Compares the exact contacts of edges, faces and points with the distance of closest points, for all segments of a
// small grid: there bodies either meet or are far apart.
#include "mesh/exact_sign.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

constexpr double kMeets = 1e-9;  // of a grid of unit 1

vec3 grid_point(int k) { return {static_cast<float>(k % 3), static_cast<float>(k / 3 % 3), static_cast<float>(k / 9)}; }

FloatTriangle random_triangle(Dice& dice) {
  return {grid_point(dice.pick(27)), grid_point(dice.pick(27)), grid_point(dice.pick(27))};
}

Triangle in_double(const FloatTriangle& t) { return {dvec3(t.a), dvec3(t.b), dvec3(t.c)}; }

TEST(ExactEdge, AgreesWithClosestPointsOnAGrid) {
  Dice dice(1360);
  std::printf("seed 1360\n");
  int wrong = 0, of_kind[5] = {};
  for (int round = 0; round < 300; ++round) {
    const FloatTriangle t = random_triangle(dice);
    const Triangle face = in_double(t);
    const dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
    const auto height = [&](const vec3& p) { return glm::dot(normal, dvec3(p) - face.a); };  // exact
    for (int k = 0; k < 729; ++k) {
      const vec3 from = grid_point(k % 27), to = grid_point(k / 27);
      const EdgeContact contact = exact_edge_contact(from, to, t);
      ++of_kind[static_cast<int>(contact)];
      const bool meets = closest_segment_triangle(dvec3(from), dvec3(to), face).distance < kMeets;
      wrong += (contact != EdgeContact::Apart) != meets;
      if (contact == EdgeContact::Apart) continue;
      const bool starts_on = height(from) == 0.0, ends_on = height(to) == 0.0;
      wrong += (contact == EdgeContact::InPlane) != (starts_on && ends_on);
      wrong += (contact == EdgeContact::EndOn) != (starts_on != ends_on);
      if (contact != EdgeContact::Crosses && contact != EdgeContact::Border) continue;
      // At a border the crossing lies on a side.
      const dvec3 at = glm::mix(dvec3(from), dvec3(to), height(from) / (height(from) - height(to)));
      double to_side = 1.0;
      for (const auto& [p, q] : {std::pair{face.a, face.b}, std::pair{face.b, face.c}, std::pair{face.c, face.a}})
        to_side = std::min(to_side, closest_segment_triangle(p, q, {at, at, at}).distance);
      wrong += (contact == EdgeContact::Border) != (to_side < kMeets);
    }
  }
  EXPECT_EQ(wrong, 0);
  for (const int count : of_kind) EXPECT_GT(count, 1000);
}

TEST(ExactEdge, FacesCrossWhereTheirDistanceIsZero) {
  Dice dice(1361);
  std::printf("seed 1361\n");
  int wrong = 0, cross = 0;
  for (int round = 0; round < 40000; ++round) {
    const FloatTriangle s = random_triangle(dice), t = random_triangle(dice);
    const vec3 first[3] = {s.a, s.b, s.c}, second[3] = {t.a, t.b, t.c};
    const bool expected = closest_triangles(in_double(s), in_double(t)).distance < kMeets;
    wrong += faces_cross_exactly(first, second) != expected;
    cross += expected;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(cross, 5000);
  EXPECT_LT(cross, 35000);
}

TEST(ExactEdge, PointsLieOnTheFaceWhereTheirDistanceIsZero) {
  Dice dice(1362);
  std::printf("seed 1362\n");
  int wrong = 0, on = 0;
  for (int round = 0; round < 4000; ++round) {
    const FloatTriangle t = random_triangle(dice);
    for (int k = 0; k < 27; ++k) {
      const dvec3 p(grid_point(k));
      const bool expected = closest_segment_triangle(p, p, in_double(t)).distance < kMeets;
      wrong += exactly_on(grid_point(k), t) != expected;
      on += expected;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(on, 1000);
}

}  // namespace
}  // namespace trocar::solids
