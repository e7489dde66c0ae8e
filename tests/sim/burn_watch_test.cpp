// Tests the depth of burns: distance from the surface at rest, bounded by the surfaces of neighbours.
#include "sim/task/watches.hpp"

#include <gtest/gtest.h>

#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

// The depth of a hole is the distance of its walls from the surface at rest.
TEST(BurnDepth, IsTheDistanceFromTheSurfaceAtRest) {
  const TriangleMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2}, {1, 3, 2}}};
  BurnWatch burns(flat.view(), {});
  EXPECT_EQ(burns.deepest(), 0.0);
  burns.add({});
  EXPECT_EQ(burns.deepest(), 0.0);
  const std::vector<glm::vec3> walls = {{0.5f, 0.5f, -0.25f}, {0.2f, 0.2f, -0.5f}, {0.3f, 0.3f, 0.f}};
  burns.add(walls);
  EXPECT_NEAR(burns.deepest(), 0.5, 1e-7);
}

// Where a neighbour overlaps the organ at rest, its surface bounds the organ.
TEST(BurnDepth, DoesNotCountTissueInsideANeighbour) {
  const TriangleMesh flat{{{-9, -9, 0}, {9, -9, 0}, {0, 9, 0}}, {{0, 1, 2}}};
  const TriangleMesh ball = shapes::sphere_of(2000, 1.f);  // down to z = -1
  const std::vector<MeshView> neighbours = {ball.view()};
  BurnWatch burns(flat.view(), neighbours);
  burns.add(std::vector<glm::vec3>{{0.1f, 0.f, -0.5f}});
  EXPECT_EQ(burns.deepest(), 0.0);
  burns.add(std::vector<glm::vec3>{{0.f, 0.f, -1.25f}});
  EXPECT_NEAR(burns.deepest(), 0.25, 1e-3);
  burns.add(std::vector<glm::vec3>{{3.f, 0.f, -0.5f}});
  EXPECT_NEAR(burns.deepest(), 0.5, 1e-7) << "away from the neighbour";
}

}  // namespace
}  // namespace trocar
