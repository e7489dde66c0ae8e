// Tests the shape of a part: polytope and ball together have the box of the drawn points, no corner is left that lies
// nearly inside the others, and none is left out that does not.
#include "cpu_collision/solids/convex_body.hpp"

#include <gtest/gtest.h>

#include <array>

#include "geometry/error.hpp"
#include "geometry/hull_distance.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

struct Box {
  dvec3 low{1e9}, high{-1e9};
};

template <class Points>
Box box_of_points(const Points& points, double radius) {
  Box box;
  for (const auto& p : points)
    box.low = glm::min(box.low, dvec3(p) - radius), box.high = glm::max(box.high, dvec3(p) + radius);
  return box;
}

TEST(PartHull, HasTheBoxOfTheDrawnPoints) {
  Dice dice(1340);
  std::printf("seed 1340\n");
  for (int round = 0; round < 300; ++round) {
    const dvec3 centre = dice.in_cube(0.05), size{dice.log_uniform(1e-3, 1e-2), dice.log_uniform(1e-3, 1e-2), 0.01};
    std::vector<vec3> points;
    // The middles of the sides make the box, whatever is left out elsewhere.
    for (int axis = 0; axis < 3; ++axis) {
      for (const double sign : {-1.0, 1.0}) {
        dvec3 off(0.0);
        off[axis] = sign * size[axis];
        points.emplace_back(centre + off);
      }
    }
    for (int k = dice.pick(10); k > 0; --k) points.emplace_back(centre + 0.8 * size * dice.in_cube(1.0));
    const double radius = dice.log_uniform(1e-5, 5e-3), least = std::min({size.x, size.y, size.z});
    const PartShape shape = part_hull(points, radius);
    ASSERT_NEAR(shape.radius, std::min(radius, least), 1e-8) << round;
    const Box drawn = box_of_points(points, 0.0), made = box_of_points(shape.corners, shape.radius);
    for (int axis = 0; axis < 3; ++axis) {
      // Along this axis a middle sticks out of the others by at least a fifth of the polytope's half side. If that is
      // little, the middle may be left out.
      const bool thin = 0.2 * (size[axis] - shape.radius) < kNearlyInside;
      const double lost = thin ? kNearlyInside : 0.0;
      EXPECT_GE(made.low[axis], drawn.low[axis] - 2e-8) << "round " << round << " axis " << axis;
      EXPECT_LE(made.low[axis], drawn.low[axis] + lost + 2e-8) << "round " << round << " axis " << axis;
      EXPECT_LE(made.high[axis], drawn.high[axis] + 2e-8) << "round " << round << " axis " << axis;
      EXPECT_GE(made.high[axis], drawn.high[axis] - lost - 2e-8) << "round " << round << " axis " << axis;
    }
    // Corners, faces and hull belong together.
    for (const glm::uvec3& face : shape.faces)
      for (int k = 0; k < 3; ++k) ASSERT_LT(face[k], shape.corners.size());
    ASSERT_LE(shape.corners.size(), kMostCorners);
    ASSERT_EQ(shape.side, 0.0);
    ASSERT_EQ(shape.hinge_z, 0.0);
  }
}

double apart(std::vector<dvec3> others, std::size_t corner) {
  const std::array<dvec3, 1> alone{others[corner]};
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(corner));
  return hull_distance(others, alone).distance;
}

TEST(PartHull, LeavesOutWhatIsNearlyInsideAndNothingElse) {
  Dice dice(1341);
  std::printf("seed 1341\n");
  int left_out = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<vec3> points;
    for (int k = 0; k < 12; ++k) points.emplace_back(0.01 * dice.in_cube(1.0));
    for (int k = 0; k < 6; ++k)
      points.push_back(
          0.5f * (points[static_cast<std::size_t>(dice.pick(12))] + points[static_cast<std::size_t>(dice.pick(12))]) +
          vec3(dice.in_cube(4e-5)));
    const ConvexBody drawn = convex_hull(points);
    const PartShape shape = part_hull(points, 1e-6);
    for (std::size_t k = 0; k < shape.corners.size(); ++k)
      ASSERT_GE(apart(shape.corners, k), kNearlyInside - 1e-8) << round;
    // With a ball of a micrometre the shrinking moves a corner by a few micrometres.
    for (const dvec3& vertex : drawn.vertices) {
      const std::array<dvec3, 1> alone{vertex};
      ASSERT_LT(hull_distance(shape.corners, alone).distance, 3.0 * kNearlyInside) << round;
    }
    left_out += static_cast<int>(drawn.vertices.size() - shape.corners.size());
  }
  std::printf("%d corners left out\n", left_out);
  EXPECT_GT(left_out, 50);
}

// The nearest corner goes first: of the two ends of a short side of a square only one goes, and the apex of a flat roof
// goes or stays by its height.
TEST(PartHull, HandMadeRoofs) {
  for (const bool low : {true, false}) {
    const float height = low ? 2.5e-5f : 3.5e-5f;
    const std::vector<vec3> roof{{-0.01f, -0.01f, 0.f}, {0.01f, -0.01f, 0.f},     {0.01f, 0.01f, 0.f},
                                 {-0.01f, 0.01f, 0.f},  {0.f, 0.f, 0.f + height}, {0.f, 0.f, -0.01f}};
    EXPECT_EQ(part_hull(roof, 1e-9).corners.size(), low ? 5u : 6u);
  }
  const std::vector<vec3> square{
      {0.f, 0.f, 0.f}, {0.01f, 0.f, 0.f}, {0.01f, 0.01f, 0.f}, {0.f, 0.01f, 0.f}, {2e-5f, 0.f, 0.f}};
  EXPECT_EQ(part_hull(square, 1e-9).corners.size(), 4u);
}

TEST(PartHull, FlatShapesAndTooManyCorners) {
  const PartShape point = part_hull(std::vector<vec3>{{0.01f, 0.f, 0.f}}, 1e-3);
  ASSERT_EQ(point.corners.size(), 1u);
  EXPECT_EQ(point.corners[0], dvec3(vec3(0.01f, 0.f, 0.f)));
  EXPECT_EQ(point.radius, kSmallestRadius);
  ASSERT_EQ(point.faces.size(), 1u);
  EXPECT_EQ(point.faces[0], glm::uvec3(0, 0, 0));
  const PartShape segment = part_hull(std::vector<vec3>{{0, 0, 0}, {0, 0, 0.01f}}, 1e-3);
  ASSERT_EQ(segment.corners.size(), 2u);
  ASSERT_EQ(segment.faces.size(), 1u);
  EXPECT_EQ(segment.faces[0], glm::uvec3(0, 0, 1));
  EXPECT_NEAR(glm::distance(segment.corners[0], segment.corners[1]), double(0.01f) - 2.0 * kSmallestRadius, 1e-8);
  Dice dice(1342);
  std::vector<vec3> ball;
  for (int k = 0; k < 400; ++k) ball.emplace_back(0.01 * dice.direction());
  EXPECT_THROW(part_hull(ball, 1e-4), InputError);
  ball.resize(60);
  EXPECT_LE(part_hull(ball, 1e-4).corners.size(), 60u);
}

}  // namespace
}  // namespace trocar::solids
