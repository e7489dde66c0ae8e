#include "deform/unfold.hpp"

#include <glm/gtc/quaternion.hpp>
#include <random>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

struct Columns {
  std::vector<float> x, y, z;

  explicit Columns(std::span<const glm::vec3> points) {
    for (const glm::vec3& p : points) x.push_back(p.x), y.push_back(p.y), z.push_back(p.z);
  }
  glm::vec3 at(std::uint32_t i) const { return {x[i], y[i], z[i]}; }
  SolidNodes nodes(const TissueModel& model) { return {x.data(), y.data(), z.data(), model.inverse_mass.data()}; }
};

TissueModel single_cell() {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TriangleMesh mesh = test::block(glm::vec3(0.01f));
  return make_tissue(mesh.view(), params, {});
}

TEST(Unfold, NearestRotationUndoesAStretch) {
  const std::uint32_t seed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(-1.f, 1.f), stretch(0.2f, 3.f);
  const auto point = [&] { return glm::vec3(place(random), place(random), place(random)); };
  for (int i = 0; i < 500; ++i) {
    const glm::mat3 turn = glm::mat3_cast(glm::angleAxis(2.5f * place(random), glm::normalize(point() + 1e-3f)));
    const glm::mat3 axes = glm::mat3_cast(glm::angleAxis(3.f * place(random), glm::normalize(point() + 1e-3f)));
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
  Columns columns(points);
  std::vector<float> flatness(model.cells.size());
  measure_flatness(model, columns.nodes(model), flatness);
  for (std::size_t cell = 0; cell < model.cells.size(); ++cell) {
    float smallest = INFINITY;
    for (int corner = 0; corner < 8; ++corner) {
      const auto& nodes = model.cells[cell];
      const glm::vec3 p = points[nodes[corner]];
      const glm::vec3 x = points[nodes[corner ^ 1]] - p, y = points[nodes[corner ^ 2]] - p;
      const float volume = glm::dot(x, glm::cross(y, points[nodes[corner ^ 4]] - p));
      smallest = std::min(smallest, __builtin_parity(corner) ? -volume : volume);
    }
    EXPECT_NEAR(flatness[cell], smallest / (0.013f * 0.013f * 0.013f), 1e-4f);
  }
}

TEST(Unfold, RestCellIsFullAndStaysPut) {
  const TissueModel model = single_cell();
  Columns columns(model.rest);
  std::vector<float> flatness(1);
  measure_flatness(model, columns.nodes(model), flatness);
  EXPECT_NEAR(flatness[0], 1.f, 1e-5f);
  unfold_cell(model, 0, flatness[0], columns.nodes(model), 1e-3f);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_LT(glm::distance(columns.at(i), model.rest[i]), 1e-8f);
}

// Each corner of a cell in turn pushed through the opposite one: without unfolding, springs keep it there.
TEST(Unfold, CellTurnedInsideOutComesBack) {
  const TissueModel model = single_cell();
  for (int corner = 0; corner < 8; ++corner) {
    TissueState state = rest_state(model);
    const glm::vec3 centre = 0.5f * (model.rest[0] + model.rest[7]);
    state.x[corner] = centre - 1.4f * (model.rest[corner] - centre);
    for (int frame = 0; frame < 300; ++frame) step(model, state, {}, 1.f / 60.f);
    for (const Spring& s : model.springs)
      EXPECT_NEAR(glm::distance(state.x[s.a], state.x[s.b]), s.rest_length, 1e-4f) << "corner " << corner;
    Columns columns(state.x);
    std::vector<float> flatness(1);
    measure_flatness(model, columns.nodes(model), flatness);
    EXPECT_GT(flatness[0], 0.9f);
  }
}

}  // namespace
}  // namespace trocar
