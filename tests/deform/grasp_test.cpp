// Tests jaws that hold, slip and tear on a block fixed at its bottom.
#include "deform/grasp.hpp"

#include <cmath>

#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"

namespace trocar {
namespace {

constexpr float kFrame = 1.f / 60.f;

// 80 x 80 x 40 mm, the tip at the middle of its top.
struct Jaws {
  TriangleMesh mesh = test::fine_block({0.f, 0.f, 0.f}, {0.08f, 0.08f, 0.04f}, 0.004f);
  Attachment floor{{0.04f, 0.04f, -0.3f}, 0.302f};
  TissueModel model = make_tissue(mesh.view(), {}, {&floor, 1});
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  GraspParams params;
  Grasp grasp;
  glm::dvec3 tip{0.04, 0.04, 0.041}, pivot{0.04, 0.04, 0.2};
  std::vector<TissueHold> holds = {};

  void frame(const glm::dvec3& to, double opening, double turn_deg = 0.0) {
    move_jaws(params, {pivot, tip, 0.0025}, opening, model, positions, grasp);
    const ToolStep step{pivot, tip, to, 0.0025};
    holds.clear();
    if (grasp.holding()) add_holds(params, step, turn_deg, grasp, holds);
    trocar::step(model, state, {{}, {}, holds}, kFrame);
    settle_grasp(params, state, step, 0, grasp);
    embed_surface(model, state.x, positions);
    tip = to;
  }
  void pull_up(double metres, double opening, int frames = 60) {
    const glm::dvec3 from = tip;
    for (int i = 1; i <= frames && !grasp.torn; ++i) frame(from + glm::dvec3(0.0, 0.0, metres * i / frames), opening);
  }
};

TEST(Grasp, OpenJawsHoldNothing) {
  Jaws jaws;
  for (int i = 0; i < 5; ++i) jaws.frame(jaws.tip, 0.3 + 0.1 * i);
  EXPECT_FALSE(jaws.grasp.holding());
  EXPECT_EQ(jaws.grasp.pull, glm::vec3(0.f));
}

TEST(Grasp, HeldTissueFollowsAndIsReleased) {
  Jaws jaws;
  jaws.frame(jaws.tip, 0.1);
  ASSERT_TRUE(jaws.grasp.holding());
  const std::uint32_t vertex = jaws.grasp.points[0].vertex;
  const std::size_t held = jaws.grasp.points.size();
  jaws.pull_up(0.006, 0.1);
  EXPECT_EQ(jaws.grasp.points.size(), held);
  EXPECT_NEAR(jaws.positions[vertex].z - jaws.mesh.positions[vertex].z, 0.006f, 4e-4f);
  EXPECT_LT(jaws.grasp.pull.z, -0.1f);
  EXPECT_LT(std::hypot(jaws.grasp.pull.x, jaws.grasp.pull.y), 0.1f * -jaws.grasp.pull.z);
  jaws.frame(jaws.tip, 1.0);
  EXPECT_FALSE(jaws.grasp.holding());
  for (int i = 0; i < 240; ++i) jaws.frame(jaws.tip, 1.0);
  EXPECT_LT(glm::distance(jaws.positions[vertex], jaws.mesh.positions[vertex]), 2e-4f);
}

TEST(Grasp, SlipsAboveTheFrictionLimit) {
  Jaws jaws;
  jaws.params.tear_from = 100.f;
  jaws.frame(jaws.tip, 0.2);
  ASSERT_TRUE(jaws.grasp.holding());
  const float limit = 2.f * jaws.params.friction * jaws.params.squeeze * (1.f - 0.2f / jaws.params.open_above);
  float most = 0.f;
  const glm::dvec3 from = jaws.tip;
  for (int i = 1; i <= 120; ++i) {
    jaws.frame(from + glm::dvec3(0.0, 0.0, 0.06 * i / 120), 0.2);
    most = std::max(most, glm::length(jaws.grasp.pull));
  }
  EXPECT_LE(most, 1.001f * limit);
  EXPECT_GT(most, 0.7f * limit);
  EXPECT_FALSE(jaws.grasp.holding());
}

TEST(Grasp, TearsWhenHeldTooFirmlyAndPulledTooHard) {
  Jaws jaws;
  jaws.frame(jaws.tip, 0.0);
  ASSERT_TRUE(jaws.grasp.holding());
  jaws.pull_up(0.08, 0.0, 200);
  EXPECT_TRUE(jaws.grasp.torn);
  EXPECT_GT(glm::length(jaws.grasp.pull), jaws.params.tear_from);
  std::vector<std::uint32_t> cells;
  held_cells(jaws.model, jaws.grasp, cells);
  EXPECT_FALSE(cells.empty());
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
}

TEST(Grasp, TurningTheInstrumentTwistsTheTissue) {
  Jaws jaws;
  jaws.frame(jaws.tip, 0.1);
  std::vector<GraspedPoint> before = jaws.grasp.points;
  for (int i = 0; i < 30; ++i) jaws.frame(jaws.tip, 0.1, 1.0);
  ASSERT_EQ(jaws.grasp.points.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const glm::dvec2 a(before[i].offset), b(jaws.grasp.points[i].offset);
    if (glm::length(a) < 0.002) continue;
    // The axis points down: a rotation about it is clockwise seen from above.
    const double turned = std::atan2(a.x * b.y - a.y * b.x, glm::dot(a, b));
    EXPECT_NEAR(turned, glm::radians(-30.0), 0.1) << i;
  }
}

}  // namespace
}  // namespace trocar
