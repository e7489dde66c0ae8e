// Tests jaws that grip, squeeze, slip and tear, on a fold 5 mm thick that is fixed at its bottom.
#include "deform/contact/grasp.hpp"

#include <cmath>
#include <numbers>

#include "tests/deform/deform_support.hpp"
#include "tests/deform/fold.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Fold;

TEST(Grasp, PointsBetweenJawsAndBack) {
  const test::Grasper tool;
  for (const double opening : {0.3, 0.5, 1.0})
    for (const double y : {-0.001, 0.0, 0.0015}) {
      const dvec3 local(0.001, y, 0.004);
      const JawPoint point = jaw_point(tool.jaws, opening, local);
      EXPECT_LT(glm::distance(position_of(tool.jaws, opening, point), local), 1e-12);
      EXPECT_TRUE(between_jaws(tool.jaws, 0.016, point, 1e-4));
    }
  EXPECT_FALSE(between_jaws(tool.jaws, 0.016, jaw_point(tool.jaws, 0.5, {0.003, 0.0, 0.004}), 0.0)) << "beside them";
  EXPECT_FALSE(between_jaws(tool.jaws, 0.016, jaw_point(tool.jaws, 0.5, {0.0, 0.0, -0.002}), 0.0)) << "before them";
  EXPECT_FALSE(between_jaws(tool.jaws, 0.006, jaw_point(tool.jaws, 0.5, {0.0, 0.0, 0.012}), 0.0)) << "beyond the reach";
}

TEST(Grasp, OpenJawsHoldNothing) {
  Fold fold;
  for (int i = 0; i < 5; ++i) fold.frame({0.0, 0.0, 0.013}, 1.0);
  EXPECT_FALSE(fold.grasp.holding());
  EXPECT_EQ(fold.grasp.pull, glm::vec3(0.f));
}

// Jaws that close beside the fold, with 4 mm of air between fold and jaw, hold nothing.
TEST(Grasp, AGripThroughAirHoldsNothing) {
  for (const double side : {0.0105, -0.0105}) {
    Fold fold(side);
    fold.close_to(0.0, {0.0, side, 0.013});
    EXPECT_FALSE(fold.grasp.holding());
  }
  Fold above;
  above.close_to(0.0, {0.0, 0.0, 0.024});
  EXPECT_FALSE(above.grasp.holding()) << "4 mm above the fold";
}

// Everything held lies between the jaws at the first grip, and stays there.
TEST(Grasp, HoldsTheFoldBetweenTheJaws) {
  Fold fold;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  const RigidFrame frame = frame_at(fold.tool.motion, 1.0);
  for (const GraspedPoint& held : fold.grasp.points) {
    EXPECT_LT(std::abs(fold.mesh.positions[held.vertex].x), 2.6e-3f);
    EXPECT_GT(fold.mesh.positions[held.vertex].z, 0.0120f);
    const dvec3 local = frame.to_local(dvec3(fold.positions[held.vertex]));
    EXPECT_TRUE(between_jaws(fold.tool.jaws, fold.params.reach,
                             jaw_point(fold.tool.jaws, fold.tool.motion.opening_after, local), 1e-3));
  }
  // 3.6 mm wide, 7 mm deep, on one side.
  EXPECT_NEAR(fold.grasp.area, 2.5e-5f, 1.2e-5f);
}

TEST(Grasp, VerticesWithoutFacesAreNotHeld) {
  Fold fold;
  std::vector<char> unused(fold.positions.size(), 1);
  fold.tool.move(Fold::at({0.0, 0.0, 0.013}, 0.45));
  fold.tool.move(Fold::at({0.0, 0.0, 0.013}, 0.44));
  grip(fold.params, fold.tool.jaws, fold.tool.motion,
       {fold.model, fold.positions, fold.mesh.faces, fold.around, unused}, fold.grasp);
  EXPECT_FALSE(fold.grasp.holding());
  grip(fold.params, fold.tool.jaws, fold.tool.motion, {fold.model, fold.positions, fold.mesh.faces, fold.around, {}},
       fold.grasp);
  EXPECT_TRUE(fold.grasp.holding());
}

// The jaws stop on the tissue: the further the handle closes, the thinner the tissue and the larger the squeeze, up to
// the handle's limit. Handle and tissue are in equilibrium.
TEST(Grasp, JawsStopOnTheTissueAndSqueezeFollowsTheHandle) {
  Fold fold;
  fold.close_to(0.35);
  ASSERT_TRUE(fold.grasp.holding());
  const double first = fold.grasp.first_opening;
  // The inner edge of a jaw reaches the top of the fold, 7 mm from the end of the jaws, first.
  EXPECT_NEAR(first, 2.0 * std::atan2(0.0025, 0.016 - 0.007), 0.05);
  double last_opening = first, last_squeeze = -1.0;
  for (const double aperture : {0.3, 0.25, 0.2, 0.1, 0.0}) {
    const double opening = settle_opening(fold.params, fold.tool.jaws, aperture * test::kWidest, fold.grasp);
    const double stretch = opening / first, squeeze = static_cast<double>(fold.grasp.squeeze);
    const double tissue =
        static_cast<double>(fold.grasp.area * fold.tissue.youngs_modulus) / 3.0 * (1.0 / (stretch * stretch) - stretch);
    std::printf("handle %.2f: jaws %.3f, squeeze %.2f N, tissue at %.0f %%\n", aperture, opening / test::kWidest,
                squeeze, 100.0 * stretch);
    EXPECT_NEAR(squeeze, tissue, 1e-3 * tissue + 1e-9);
    EXPECT_LT(opening, last_opening);
    EXPECT_GT(squeeze, last_squeeze);
    EXPECT_LE(squeeze, static_cast<double>(fold.params.squeeze));
    last_opening = opening, last_squeeze = squeeze;
  }
  EXPECT_GT(last_opening, 0.02 * first);
}

// A light grip has a third of the handle's force at the same aperture of the jaws, so the tissue stays thicker.
TEST(Grasp, ALightGripSqueezesLess) {
  Fold fold;
  fold.close_to(0.35);
  ASSERT_TRUE(fold.grasp.holding());
  for (const double aperture : {0.3, 0.15, 0.0}) {
    const double commanded = aperture * test::kWidest;
    const double firm = settle_opening(fold.params, fold.tool.jaws, commanded, fold.grasp);
    const double firm_squeeze = static_cast<double>(fold.grasp.squeeze);
    const double light = settle_opening(fold.params, fold.tool.jaws, commanded, fold.grasp, 1.0 / 3.0);
    const double squeeze = static_cast<double>(fold.grasp.squeeze), stretch = light / fold.grasp.first_opening;
    std::printf("handle %.2f: firm %.2f N, light %.2f N, tissue at %.0f %%\n", aperture, firm_squeeze, squeeze,
                100.0 * stretch);
    EXPECT_GT(light, firm);
    EXPECT_LT(squeeze, (aperture == 0.0 ? 0.5 : 1.0) * firm_squeeze);
    EXPECT_NEAR(squeeze, 4.0 / test::kWidest * (light - commanded), 1e-6);
  }
}

TEST(Grasp, HeldTissueFollowsAndIsReleased) {
  Fold fold;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  const std::uint32_t vertex = fold.grasp.points[0].vertex;
  const float before = fold.positions[vertex].z;
  for (int i = 1; i <= 60; ++i) fold.frame({0.0, 0.0, 0.013 + 0.003 * i / 60}, 0.0);
  EXPECT_NEAR(fold.positions[vertex].z - before, 0.003f, 6e-4f);
  EXPECT_LT(fold.grasp.pull.z, -0.02f);
  fold.frame({0.0, 0.0, 0.016}, 1.0);
  EXPECT_FALSE(fold.grasp.holding());
  for (int i = 0; i < 240; ++i) fold.frame({0.0, 0.0, 0.016}, 1.0);
  EXPECT_LT(glm::distance(fold.positions[vertex], fold.mesh.positions[vertex]), 4e-4f);
}

TEST(Grasp, SlipsAboveTheFrictionLimit) {
  Fold fold;
  fold.params.squeeze = 0.2f;
  fold.params.tear_from = 100.f;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  const float limit = 2.f * fold.params.friction * fold.grasp.squeeze;
  float most = 0.f;
  bool slipped = false;
  for (int i = 1; i <= 150; ++i) {
    fold.frame({0.0, 0.0, 0.013 + 0.03 * i / 150}, 0.0);
    most = std::max(most, glm::length(fold.grasp.pull));
    slipped = slipped || fold.grasp.slipping;
  }
  EXPECT_TRUE(slipped);
  EXPECT_LE(most, 1.001f * limit);
  EXPECT_GT(most, 0.5f * limit);
  EXPECT_FALSE(fold.grasp.holding());
}

TEST(Grasp, TearsWhenHeldTooFirmlyAndPulledTooHard) {
  Fold fold;
  fold.params.tear_from = 0.4f;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  for (int i = 1; i <= 200 && !fold.grasp.torn; ++i) fold.frame({0.0, 0.0, 0.013 + 0.03 * i / 200}, 0.0);
  EXPECT_TRUE(fold.grasp.torn);
  EXPECT_GT(glm::length(fold.grasp.pull), fold.params.tear_from);
  std::vector<std::uint32_t> cells;
  held_cells(fold.model, fold.grasp, cells);
  EXPECT_FALSE(cells.empty());
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
}

TEST(Grasp, TurningTheInstrumentTwistsTheTissue) {
  Fold fold;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  std::uint32_t vertex = fold.grasp.points[0].vertex;
  for (const GraspedPoint& held : fold.grasp.points)
    if (std::abs(fold.positions[held.vertex].x) > std::abs(fold.positions[vertex].x)) vertex = held.vertex;
  const glm::dvec2 before(fold.positions[vertex]);
  for (int i = 1; i <= 30; ++i) fold.frame({0.0, 0.0, 0.013}, 0.0, 0.5 * i / 30);
  const glm::dvec2 after(fold.positions[vertex]);
  // The axis points down: a rotation about it is clockwise seen from above.
  EXPECT_NEAR(std::atan2(before.x * after.y - before.y * after.x, glm::dot(before, after)), -0.5, 0.2);
}

}  // namespace
}  // namespace trocar
