// Tests clips without a session: which points their struts join, their pose, the loss of struts, and that they do not
// shorten the substeps of a light organ by more than the documented share.
#include "deform/join/clip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deform/join/bonds.hpp"
#include "deform/solid/elasticity.hpp"
#include "mesh/tube_shape.hpp"

namespace trocar {
namespace {

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
