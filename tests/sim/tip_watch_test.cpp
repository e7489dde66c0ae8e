// Tests tips inside organs: depth and shortest path out of balls, overlapping organs, changing faces.
#include "sim/session/sight_watch.hpp"

#include <gtest/gtest.h>

#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

Organ organ_of(TriangleMesh mesh) {
  Organ organ;
  organ.positions = mesh.positions;
  organ.mesh = std::move(mesh);
  organ.box = {glm::vec3(1e30f), glm::vec3(-1e30f)};
  for (const glm::vec3& p : organ.positions) {
    organ.box.low = glm::min(organ.box.low, p);
    organ.box.high = glm::max(organ.box.high, p);
  }
  return organ;
}

TEST(TipWatch, DepthInABall) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(4, 0.1f)));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.0, 0.0, 0.07}, {0.0, 0.0, 0.12}, {0.3, 0.0, 0.0}, {0.09, 0.09, 0.0}};
  watch.look(organs, tips);
  ASSERT_EQ(watch.buried().size(), 4u);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_NEAR(watch.buried()[0]->depth, 0.03f, 5e-4f);
  EXPECT_GT(watch.buried()[0]->out.z, 0.99f);
  for (int k = 1; k < 4; ++k) EXPECT_FALSE(watch.buried()[k]) << k;  // the last one is in the box, not in the ball
}

TEST(TipWatch, DeepestOfSeveralOrgans) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f)));
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f, {0.08f, 0.f, 0.f})));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.06, 0.0, 0.0}};
  watch.look(organs, tips);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_EQ(watch.buried()[0]->organ, 1u);
}

// The tree follows positions, and new faces when the organ's topology number changes.
TEST(TipWatch, FollowsTheOrgan) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f)));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.0, 0.0, 0.05}};
  watch.look(organs, tips);
  EXPECT_TRUE(watch.buried()[0]);
  for (glm::vec3& p : organs[0].positions) p.z -= 0.06f;
  watch.look(organs, tips);
  EXPECT_FALSE(watch.buried()[0]);
  const std::uint32_t topology = organs[0].topology;
  organs[0] = organ_of(shapes::torus(40, 20, 0.1f, 0.03f));
  organs[0].topology = topology + 1;
  const glm::dvec3 in_the_ring[] = {{0.1, 0.0, 0.0}}, in_the_hole[] = {{0.0, 0.0, 0.0}};
  watch.look(organs, in_the_ring);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_NEAR(watch.buried()[0]->depth, 0.03f, 1e-3f);
  watch.look(organs, in_the_hole);
  EXPECT_FALSE(watch.buried()[0]);
}

}  // namespace
}  // namespace trocar
