// Tests the forces that restore crushed cells: the nearest rotation, the flatness of a cell, and that the forces sum
// to zero.
#include "deform/step.hpp"

#include <cmath>
#include <glm/gtc/quaternion.hpp>
#include <random>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

NodeColumns columns(std::span<const glm::vec3> points) {
  NodeColumns c;
  for (auto* axis : {&c.x, &c.y, &c.z}) axis->assign(points.size() + 2 * kLanes, 0.f);
  for (std::size_t i = 0; i < points.size(); ++i) c.x[i] = points[i].x, c.y[i] = points[i].y, c.z[i] = points[i].z;
  return c;
}

float flattest(const TissueModel& model, const NodeColumns& x) {
  std::vector<float> flatness(model.bulk.size());
  measure_flatness(model, x, flatness);
  float least = INFINITY;
  for (const std::uint32_t entry : model.bulk_index) least = std::min(least, flatness[entry]);
  return least;
}

TissueModel single_cell(float poisson_ratio = TissueParams{}.poisson_ratio) {
  TissueParams params;
  params.poisson_ratio = poisson_ratio;
  params.node_spacing = 0.01f;
  const TriangleMesh mesh = test::block(glm::vec3(0.01f));
  return make_tissue(mesh.view(), params, {});
}

TEST(Unfold, NearestRotationIgnoresStretch) {
  const std::uint32_t seed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> coordinate(-1.f, 1.f), stretch(0.2f, 3.f);
  const auto point = [&] { return glm::vec3(coordinate(random), coordinate(random), coordinate(random)); };
  for (int i = 0; i < 500; ++i) {
    const glm::mat3 turn = glm::mat3_cast(glm::angleAxis(2.5f * coordinate(random), glm::normalize(point() + 1e-3f)));
    const glm::mat3 axes = glm::mat3_cast(glm::angleAxis(3.f * coordinate(random), glm::normalize(point() + 1e-3f)));
    glm::mat3 scale(0.f);
    for (int axis = 0; axis < 3; ++axis) scale[axis][axis] = stretch(random);
    const glm::mat3 found = nearest_rotation(turn * axes * scale * glm::transpose(axes));
    for (int axis = 0; axis < 3; ++axis) EXPECT_LT(glm::distance(found[axis], turn[axis]), 0.02f) << i;
  }
}

TEST(Unfold, NearestRotationIsNeverAReflection) {
  for (const float x : {-1.f, 0.f, 1.f})
    for (const float y : {-1.f, 0.f, 1.f})
      for (const float z : {-1.f, 0.f, 1.f}) {
        const glm::mat3 r = nearest_rotation(glm::mat3(x, 0.f, 0.f, 0.f, y, 0.f, 0.f, 0.f, z));
        EXPECT_NEAR(glm::determinant(r), 1.f, 1e-5f);
      }
}

TEST(Unfold, FlatnessAgreesWithThePlainSum) {
  const TriangleMesh mesh = shapes::icosphere(3);
  TissueParams params;
  params.node_spacing = 0.013f;
  const TissueModel model = make_tissue(mesh.view(), params, {});
  std::mt19937 random(4);
  std::uniform_real_distribution<float> shake(-0.006f, 0.006f);
  std::vector<glm::vec3> points = model.rest;
  for (glm::vec3& p : points) p += glm::vec3(shake(random), shake(random), shake(random));
  std::vector<float> flatness(model.bulk.size());
  measure_flatness(model, columns(points), flatness);
  for (std::size_t cell = 0; cell < model.lattice.cells.size(); ++cell) {
    float smallest = INFINITY;
    for (int corner = 0; corner < 8; ++corner) {
      const auto& nodes = model.lattice.cells[cell].node;
      const glm::vec3 p = points[nodes[corner]];
      const glm::vec3 x = points[nodes[corner ^ 1]] - p, y = points[nodes[corner ^ 2]] - p;
      const float volume = glm::dot(x, glm::cross(y, points[nodes[corner ^ 4]] - p));
      smallest = std::min(smallest, __builtin_parity(corner) ? -volume : volume);
    }
    EXPECT_NEAR(flatness[model.bulk_index[cell]], smallest / (0.013f * 0.013f * 0.013f), 1e-4f);
  }
}

TEST(Unfold, CellAtRestIsNotFlatAndHasNoForce) {
  const TissueModel model = single_cell();
  const NodeColumns x = columns(model.rest);
  EXPECT_NEAR(flattest(model, x), 1.f, 1e-5f);
  NodeColumns force = columns(std::vector<glm::vec3>(8));
  add_unfolding_forces(model, {{0, 2, 4, 6}, 1.f}, x, columns(model.rest), force);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_LT(glm::length(glm::vec3(force.x[i], force.y[i], force.z[i])), 1e-6f);
}

TEST(Unfold, ForcesSumToZero) {
  const TissueModel model = single_cell();
  std::vector<glm::vec3> points = model.rest;
  points[3] = -2.f * points[3];
  points[6] += glm::vec3(0.f, 0.02f, 0.f);
  NodeColumns force = columns(std::vector<glm::vec3>(8));
  add_unfolding_forces(model, {{0, 2, 4, 6}, 1.f}, columns(points), columns(points), force);
  glm::vec3 sum(0.f);
  float largest = 0.f;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const glm::vec3 f(force.x[i], force.y[i], force.z[i]);
    sum += f;
    largest = std::max(largest, glm::length(f));
  }
  EXPECT_GT(largest, 0.01f);
  EXPECT_LT(glm::length(sum), 1e-5f * largest);
}

// Each corner of a cell in turn is pushed through the opposite one: without unfolding, springs keep it there. At a
// Poisson's ratio of 0.25 cells have no volume term of their own, and still unfold.
TEST(Unfold, CellTurnedInsideOutRecovers) {
  for (const float poisson_ratio : {TissueParams{}.poisson_ratio, 0.25f}) {
    const TissueModel model = single_cell(poisson_ratio);
    for (int corner = 0; corner < 8; ++corner) {
      SteppedTissue state = rest_state(model);
      const glm::vec3 centre = 0.5f * (model.rest[0] + model.rest[7]);
      state.x[corner] = centre - 1.4f * (model.rest[corner] - centre);
      for (int frame = 0; frame < 300; ++frame) step(model, state, {}, 1.f / 60.f);
      for_each_spring(model, [&](const Spring& s) {
        EXPECT_NEAR(glm::distance(state.x[s.a], state.x[s.b]), s.rest_length, 1e-4f) << "corner " << corner;
      });
      EXPECT_GT(flattest(model, columns(state.x)), 0.9f) << "Poisson's ratio " << poisson_ratio;
    }
  }
}

}  // namespace
}  // namespace trocar
