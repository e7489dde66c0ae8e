// Tests jaws that grip, squeeze, slip and tear, on a fold 5 mm thick that is fixed at its bottom, and clips on thin
// tissue.
#include "deform/contact/grasp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "deform/join/bonds.hpp"
#include "deform/join/clip.hpp"
#include "deform/solid/elasticity.hpp"
#include "mesh/tube_shape.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"

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

// Tests clips without a session: which points their struts join, their pose, the loss of struts, and that they do not
// shorten the substeps of a light organ by more than the documented share.

// Jaws with a hinge at z = 14 mm, and points between them: `count` pairs along the legs, 1 mm apart from the tips on.
struct HeldPoints {
  PartShape upper, lower;
  Jaws jaws{&upper, &lower, 0.7};
  Grasp grasp;

  HeldPoints() { upper.hinge_z = lower.hinge_z = 0.014; }
  void add(std::uint32_t vertex, double x, double from_hinge, double share) {
    GraspedPoint point{};
    point.vertex = vertex;
    point.between = {x, from_hinge, share};
    grasp.points.push_back(point);
  }
  void add_pairs(std::uint32_t count) {
    for (std::uint32_t k = 0; k < count; ++k) {
      add(2 * k, 0.0, 0.0135 - 1e-3 * k, 0.4);
      add(2 * k + 1, 2e-4, 0.0135 - 1e-3 * k, -0.4);
    }
  }
};

TEST(Clip, JoinsOppositePointsBetweenTheLegs) {
  HeldPoints held;
  held.add_pairs(12);
  held.add(100, 0.0, 0.010, 0.05);  // at the side of the duct
  held.add(101, 0.01, 0.010, 0.4);  // far from any point of the other jaw
  const Clip clip = clip_on(held.grasp, held.jaws, 0.0085);
  ASSERT_EQ(clip.count, 9u) << "the pairs at most 8.5 mm from the tips";
  for (std::size_t k = 0; k < clip.count; ++k) {
    EXPECT_EQ(clip.struts[k].b, clip.struts[k].a + 1);
    EXPECT_NEAR(double(clip.struts[k].at.x), 1e-4, 1e-9);
    const double from_hinge = 0.0135 - 5e-4 * static_cast<double>(clip.struts[k].a);
    EXPECT_NEAR(double(clip.struts[k].at.y), from_hinge - (0.014 - 0.0085 / 2), 1e-8) << "from the middle of the legs";
  }
}

TEST(Clip, HasAtMostSixteenStrutsAndNoneWithoutTissueOnBothSides) {
  HeldPoints held;
  EXPECT_EQ(clip_on(held.grasp, held.jaws, 0.0085).count, 0u);
  for (std::uint32_t k = 0; k < 40; ++k) held.add(k, 1e-4 * k, 0.012, 0.4);
  EXPECT_EQ(clip_on(held.grasp, held.jaws, 0.0085).count, 0u);
  held.add(40, 2e-3, 0.012, -0.4);
  const Clip clip = clip_on(held.grasp, held.jaws, 0.0085);
  EXPECT_EQ(clip.count, kMostStruts);
  EXPECT_LT(clip.struts[0].a, 5u);
  EXPECT_GT(clip.struts[kMostStruts - 1].a, 34u) << "evenly from all";
}

// Legs along +x, jaws that open along z; the struts' middles lie 1 mm beyond the middle of the legs.
TEST(Clip, PoseIsThatOfTheLegs) {
  Clip clip;
  clip.count = 3;
  std::vector<glm::vec3> positions;
  for (std::uint32_t k = 0; k < 3; ++k) {
    const float along = 1e-3f * static_cast<float>(k);
    clip.struts[k] = {2 * k, 2 * k + 1, {0.f, along}};
    positions.emplace_back(0.02f + along, 0.03f, 0.04f + 4e-4f);
    positions.emplace_back(0.02f + along, 0.03f, 0.04f - 4e-4f);
  }
  const ClipPose pose = pose_of(clip, positions);
  EXPECT_LT(glm::distance(pose.centre, glm::vec3(0.02f, 0.03f, 0.04f)), 1e-6f);
  EXPECT_LT(glm::distance(pose.legs, glm::vec3(1, 0, 0)), 1e-4f);
  EXPECT_LT(glm::distance(pose.across, glm::vec3(0, 0, 1)), 1e-4f);
  EXPECT_NEAR(double(pose.gap), 8e-4, 1e-6);
  EXPECT_NEAR(double(tension_of(clip, positions, 1000.f)), 0.8, 1e-3);
}

TEST(Clip, ASingleStrutStillHasAPose) {
  Clip clip;
  clip.count = 1;
  clip.struts[0] = {0, 1, {0.f, 0.f}};
  const ClipPose pose = pose_of(clip, std::vector<glm::vec3>{{0, 0, 0}, {0, 0, 0}});
  EXPECT_NEAR(double(glm::length(pose.legs)), 1.0, 1e-5);
  EXPECT_NEAR(double(glm::length(pose.across)), 1.0, 1e-5);
  EXPECT_NEAR(double(glm::dot(pose.legs, pose.across)), 0.0, 1e-5);
}

TEST(Clip, LosesStrutsWhoseEndsHaveNoFaces) {
  Clip clip;
  clip.count = 3;
  for (std::uint32_t k = 0; k < 3; ++k) clip.struts[k] = {2 * k, 2 * k + 1, {}};
  follow_change(std::vector<char>{0, 0, 0, 1, 0, 0}, clip);
  ASSERT_EQ(clip.count, 2u);
  EXPECT_EQ(clip.struts[1].a, 4u);
  follow_change(std::vector<char>{1, 0, 0, 0, 1, 0}, clip);
  EXPECT_EQ(clip.count, 0u);
}

// A very stiff clip on a light duct gets less stiff; a soft one keeps its stiffness.
TEST(Clip, KeepsSubstepsLong) {
  const TubeShape shape{{{0, 0, 0}, {0.04, 0, 0}}, 2e-3};
  const TriangleMesh mesh = tube_surface(shape);
  TissueParams params;
  params.node_spacing = 4e-3f, params.youngs_modulus = 6e4f;
  const TissueModel model = make_tissue(mesh.view(), params, {});
  Clip clip;
  clip.count = 4;
  for (std::uint32_t k = 0; k < 4; ++k) clip.struts[k] = {100 + k, 105 + k, {}};
  Bonds bonds;
  const TissueModel* models[] = {&model};
  EXPECT_FLOAT_EQ(add_struts(clip, model, 1e-3f, bonds), 1e-3f);
  bonds.struts.clear();
  EXPECT_LT(add_struts(clip, model, 1e9f, bonds), 1e6f);
  EXPECT_EQ(bonds.struts.size(), 4u);
  EXPECT_FALSE(bonds.empty());
  measure_slowdown(models, bonds);
  EXPECT_LT(bonds.slowdown[0], 1.51f);
  EXPECT_GT(bonds.slowdown[0], 1.05f);
}

}  // namespace

}  // namespace trocar
