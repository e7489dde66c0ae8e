// Whatever is done to it, tissue stays finite and comes back when left alone.
#include <cmath>
#include <random>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

// Patches of the surface pushed anywhere, by up to 50 mm a step, ten steps running.
void push_somewhere(const TriangleMesh& mesh, std::mt19937& random, std::vector<TissueContact>& contacts) {
  const auto within = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  contacts.clear();
  if (within(0.f, 1.f) < 0.3f) return;
  const glm::vec3 centre = mesh.positions[random() % mesh.positions.size()];
  const glm::vec3 normal = glm::normalize(glm::vec3(within(-1.f, 1.f), within(-1.f, 1.f), within(-1.f, 1.f)) + 1e-3f);
  const float reach = within(0.002f, 0.03f), depth = within(-0.005f, 0.05f);
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (glm::distance(mesh.positions[v], centre) < reach) contacts.push_back({v, normal, depth * within(0.5f, 1.f)});
}

void violate(float modulus, int steps, float dt, float rest_seconds, std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", E " << modulus << " Pa, dt " << dt << " s");
  const TriangleMesh mesh = shapes::icosphere(2, 0.05f);
  const Attachment ball{{0.f, 0.05f, 0.f}, 0.035f};
  TissueParams params;
  params.youngs_modulus = modulus;
  params.node_spacing = 0.0125f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  TissueState state = rest_state(model);
  std::mt19937 random(seed);
  std::vector<TissueContact> contacts;
  for (int i = 0; i < steps; ++i) {
    if (i % 10 == 0) push_somewhere(mesh, random, contacts);
    const glm::vec3 force = step(model, state, contacts, dt);
    ASSERT_TRUE(std::isfinite(force.x + force.y + force.z)) << "step " << i;
  }
  ASSERT_TRUE(std::isfinite(test::farthest_from_rest(model, state)));
  for (float t = 0.f; t < rest_seconds; t += dt) step(model, state, {}, dt);
  EXPECT_LT(test::farthest_from_rest(model, state), 0.01f * 0.1f);  // 1 % of the organ
}

TEST(TissueStress, TwentyThousandViolentSteps) { violate(6000.f, 20000, 1.f / 60.f, 15.f, 1); }
TEST(TissueStress, StiffTissueInLongSteps) { violate(1e6f, 200, 1.f / 20.f, 5.f, 2); }
TEST(TissueStress, SoftTissueInShortSteps) { violate(1000.f, 2000, 1.f / 500.f, 8.f, 3); }

// Every free node thrown somewhere else, with wild speeds: all cells torn inside out.
TEST(TissueStress, ScrambledTissueFindsItsShape) {
  const std::uint32_t seed = 9;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const TriangleMesh mesh = shapes::icosphere(2, 0.05f);
  const Attachment ball{{0.f, 0.05f, 0.f}, 0.035f};
  TissueParams params;
  params.node_spacing = 0.0125f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  TissueState state = rest_state(model);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(-0.05f, 0.05f);
  for (std::size_t i = 0; i < state.x.size(); ++i)
    if (model.inverse_mass[i] > 0.f) {
      state.x[i] = glm::vec3(place(random), place(random), place(random));
      state.v[i] = 100.f * glm::vec3(place(random), place(random), place(random));
    }
  for (int frame = 0; frame < 900; ++frame) step(model, state, {}, 1.f / 60.f);
  EXPECT_LT(test::farthest_from_rest(model, state), 0.001f);
}

}  // namespace
}  // namespace trocar
