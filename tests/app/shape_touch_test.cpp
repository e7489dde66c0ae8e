// Tests the shape of an instrument against an organ: compares the answer from the tree's candidate faces with that from
// all faces; tests the pose and the tip's depth.
#include "app/compare/shape_touch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "study/shapes/superquadric.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

// Returns two parallel fingers, 20 mm long, tips towards +z.
std::vector<TriangleMesh> jaws() {
  SuperquadricParams finger{.size = {0.002, 0.001, 0.01}, .profile_exponent = 0.5, .faces = 300};
  std::vector<TriangleMesh> both;
  for (const float side : {-1.f, 1.f}) {
    both.push_back(make_superquadric(finger));
    for (glm::vec3& p : both.back().positions) p += glm::vec3(0.f, side * 0.0015f, 0.f);
  }
  return both;
}

TrajectoryRow row_at(const glm::dvec3& tip, const glm::dvec3& from, double roll_deg) {
  TrajectoryRow row;
  row.tip = tip, row.pivot = tip + 0.2 * glm::normalize(from), row.roll_deg = roll_deg;
  return row;
}

TEST(ShapeTouch, ThePosePutsTheShapesTipAtTheRowsTip) {
  const TrajectoryRow row = row_at({0.01, 0.02, 0.03}, {0.3, 0.2, 1.0}, 0.0);
  const RigidFrame pose = shape_pose(row, 0.01);
  EXPECT_LT(glm::distance(pose.to_world({0, 0, 0.01}), row.tip), 1e-12);
  EXPECT_LT(glm::distance(pose.to_world({0, 0, 0.01 - 0.2}), row.pivot), 1e-12);  // the shaft lies on the axis
  EXPECT_NEAR(glm::determinant(pose.axes), 1.0, 1e-12);
  // The roll is a rotation about the axis: a quarter turn moves a point off the axis by 90 degrees, four of them do not
  // move it.
  const glm::dvec3 off(0.001, 0.0, 0.01);
  const auto offset = [&](double roll) {
    return shape_pose(row_at(row.tip, {0.3, 0.2, 1.0}, roll), 0.01).to_world(off) - row.tip;
  };
  EXPECT_NEAR(glm::dot(offset(0.0), offset(90.0)), 0.0, 1e-12);
  EXPECT_LT(glm::distance(offset(0.0), offset(360.0)), 1e-12);
  // The roll is clockwise as seen from the trocar towards the tip.
  EXPECT_LT(glm::dot(glm::cross(offset(0.0), offset(90.0)), row.pivot - row.tip), 0.0);
}

TEST(ShapeTouch, AgreesWithASearchOfAllFaces) {
  constexpr std::uint32_t kSeed = 12;
  test::Dice dice(kSeed);
  const TriangleMesh organ = shapes::torus(60, 30, 0.05f, 0.02f);
  const std::vector<TriangleMesh> shapes = jaws();
  ShapeTouch touch(organ, shapes, {});
  EXPECT_GE(touch.pieces(), 2u);
  EXPECT_LE(touch.deviation(), 3e-4);
  std::vector<solids::ConvexPieces> pieces;
  for (const TriangleMesh& shape : shapes) pieces.push_back(solids::convex_pieces(shape.view()));
  std::size_t found = 0;
  for (int k = 0; k < 60; ++k) {
    const glm::dvec3 at(organ.positions[std::size_t(dice.pick(int(organ.positions.size())))]);
    const TrajectoryRow row = row_at(at + dice.in_cube(0.004), dice.direction(), dice.uniform(-180.0, 180.0));
    std::vector<FaceId> expected;
    for (const solids::ConvexPieces& one : pieces) {
      solids::PieceFaces faces(one);
      const auto all = faces.touched(shape_pose(row, 0.01), organ.view());
      expected.insert(expected.end(), all.begin(), all.end());
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    const auto touched = touch.touched(row);
    ASSERT_TRUE(std::ranges::equal(touched, expected)) << "seed " << kSeed << ", case " << k;
    found += expected.size();
  }
  EXPECT_GT(found, 300u);
}

TEST(ShapeTouch, TipDepth) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  ShapeTouch touch(ball, jaws(), {});
  const solids::TipDepth in = touch.tip_depth(row_at({0, 0, 0.04}, {0, 0, 1}, 0.0)),
                         out = touch.tip_depth(row_at({0, 0, 0.07}, {0, 0, 1}, 0.0));
  EXPECT_EQ(in.location, solids::PointLocation::Inside);
  EXPECT_NEAR(in.depth, 0.01, 2e-4);
  EXPECT_EQ(out.location, solids::PointLocation::Outside);
  EXPECT_NEAR(out.depth, -0.02, 2e-4);
}

}  // namespace
}  // namespace trocar
