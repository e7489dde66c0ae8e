// The stated modulus is the one the tissue has: pulled, sagging under its weight, and pressed.
#include <cmath>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

// Fixes every node below `low` or above `high` along `axis`.
void fix_ends(TissueModel& model, int axis, float low, float high) {
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (model.rest[i][axis] < low || model.rest[i][axis] > high) model.inverse_mass[i] = 0.f;
}

// Pull of the springs across the plane where `axis` is `place`, N.
double pull_across(const TissueModel& model, const TissueState& state, int axis, float place) {
  double pull = 0.0;
  for (const Spring& s : model.springs) {
    if ((model.rest[s.a][axis] < place) == (model.rest[s.b][axis] < place)) continue;
    const glm::dvec3 d = glm::dvec3(state.x[s.b]) - glm::dvec3(state.x[s.a]);
    const double length = glm::length(d);
    pull += s.stiffness * (length - s.rest_length) * std::abs(d[axis]) / length;
  }
  return pull;
}

// Mean position along `axis` of the layer of nodes at `place`.
double layer(const TissueModel& model, const TissueState& state, int axis, float place) {
  double sum = 0.0;
  int count = 0;
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (std::abs(model.rest[i][axis] - place) < 1e-4f) sum += state.x[i][axis], ++count;
  return sum / count;
}

// Stress over strain in the middle half of a bar pulled by `strain`, away from its clamped ends. Mean over an even
// number of layers: at the end of a substep, springs swept last are a little more at ease than those swept first.
double measured_modulus(float modulus, float spacing, int axis, float strain, int substeps) {
  glm::vec3 size(0.036f);
  size[axis] = 0.144f;
  TissueParams params;
  params.youngs_modulus = modulus;
  params.node_spacing = spacing;
  params.substeps = substeps;
  TissueModel model = make_tissue(test::block(size).view(), params, {});
  fix_ends(model, axis, 1e-4f, 0.144f - 1e-4f);
  TissueState state = rest_state(model);
  for (glm::vec3& p : state.x) p[axis] *= 1.f + strain;
  for (int frame = 0; frame < 180; ++frame) step(model, state, {}, 1.f / 60.f);
  const double low = layer(model, state, axis, 0.036f), high = layer(model, state, axis, 0.108f);
  const int layers = static_cast<int>(std::lround(0.072f / spacing));
  double pull = 0.0;
  for (int i = 0; i < layers; ++i)
    pull += pull_across(model, state, axis, 0.036f + (static_cast<float>(i) + 0.5f) * spacing) / layers;
  return pull / (0.036 * 0.036) / ((high - low) / 0.072 - 1.0);
}

// At this strain springs straight between their ends are 3 % stiffer pulled, and as much softer pressed.
TEST(Elasticity, BarPulledFivePercentHasTheStatedModulus) {
  const auto ratio = [](float modulus, float spacing, int axis, float strain, int substeps) {
    return measured_modulus(modulus, spacing, axis, strain, substeps) / modulus;
  };
  for (const float modulus : {2000.f, 6000.f, 12000.f})
    EXPECT_NEAR(ratio(modulus, 0.012f, 1, 0.05f, 20), 1.0, 0.05) << modulus << " Pa";
  for (const float spacing : {0.009f, 0.012f, 0.018f})
    for (const int axis : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << "spacing " << spacing << " m, axis " << axis);
      EXPECT_NEAR(ratio(6000.f, spacing, axis, 0.05f, 20), 1.0, 0.05);
      EXPECT_NEAR(ratio(6000.f, spacing, axis, -0.05f, 20), 1.0, 0.05);
      EXPECT_NEAR(ratio(6000.f, spacing, axis, 0.05f, TissueParams().substeps), 1.0, 0.1);
    }
}

// A column hanging from its upper end: what the solver feels, not only what the springs say. rho g L^2 / 2E.
double measured_sag(int substeps, float dt) {
  TissueParams params;
  params.node_spacing = 0.012f;
  params.gravity = 1.f;
  params.drag = 20.f;
  params.substeps = substeps;
  TissueModel model = make_tissue(test::block({0.048f, 0.144f, 0.048f}).view(), params, {});
  fix_ends(model, 1, -1.f, 0.144f - 1e-4f);
  TissueState state = rest_state(model);
  for (float t = 0.f; t < 5.f; t += dt) step(model, state, {}, dt);
  return -layer(model, state, 1, 0.f) / (1060.0 * 1.0 * 0.144 * 0.144 / (2.0 * 6000.0));
}

TEST(Elasticity, ColumnSagsAsBeamTheorySays) {
  for (const int substeps : {1, 4, 20}) EXPECT_NEAR(measured_sag(substeps, 1.f / 60.f), 1.0, 0.1) << substeps;
  EXPECT_NEAR(measured_sag(1, 1.f / 30.f), 1.0, 0.1);
  EXPECT_NEAR(measured_sag(1, 1.f / 240.f), 1.0, 0.1);
}

// The whole upper side pressed by 5 %: the force that step() reports is area times modulus times strain.
TEST(Elasticity, ForceOnThePressIsWhatTheModulusSays) {
  TriangleMesh mesh = test::block({0.048f, 0.144f, 0.048f});
  std::vector<TissueContact> contacts;
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 13; ++j) {
      contacts.push_back({static_cast<std::uint32_t>(mesh.positions.size()), {0.f, 1.f, 0.f}, 0.f});
      mesh.positions.push_back({0.004f * i, 0.144f, 0.004f * j});
    }
  TissueParams params;
  params.node_spacing = 0.012f;
  params.drag = 20.f;
  params.friction = 0.f;
  TissueModel model = make_tissue(mesh.view(), params, {});
  fix_ends(model, 1, 1e-4f, 1.f);
  TissueState state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  const float goal = 0.144f * 0.95f;
  glm::vec3 force(0.f);
  for (int frame = 0; frame < 300; ++frame) {
    for (TissueContact& c : contacts) c.depth = std::min(positions[c.vertex].y - goal, 0.0005f);
    force = step(model, state, contacts, 1.f / 60.f);
    embed_surface(model, state.x, positions);
  }
  EXPECT_NEAR(force.y / (6000.0 * 0.048 * 0.048 * 0.05), 1.0, 0.15);
  EXPECT_NEAR(std::hypot(force.x, force.z), 0.0, 0.02 * force.y);
}

}  // namespace
}  // namespace trocar
