// Tests that organs stepped by one, two and four threads have the same bits, both apart and touching.
#include "deform/step.hpp"

#include "mesh/organ_maker.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"

namespace trocar {
namespace {

std::uint64_t hash_after(int threads, float apart) {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  for (int k = 0; k < 3; ++k) {
    meshes.push_back(test::fine_block({0.f, 0.f, (0.04f + apart) * k}, glm::vec3(0.04f), 0.008f));
    TissueParams params;
    params.youngs_modulus = 3000.f * (k + 1);
    params.gravity = {0.f, 0.f, k == 0 ? 0.f : -3.f};
    const Attachment floor{{0.02f, 0.02f, -0.3f}, 0.302f};
    models.push_back(make_tissue(meshes[k].view(), params, std::span(&floor, k == 0 ? 1 : 0)));
  }
  test::OrganGroup group(std::move(meshes), std::move(models));
  OrganStepper stepper(threads);
  Bonds no_bonds;
  const TissueHold pull{group.models[2].embedding[5], group.meshes[2].positions[5],
                        group.meshes[2].positions[5] + glm::vec3(0.01f), 0.5f};
  std::size_t met = 0;
  for (int frame = 0; frame < 40; ++frame) {
    group.find(1.f / 60.f);
    met += group.contacts.contacts.size();
    std::vector<SteppedOrgan> organs;
    for (std::size_t k = 0; k < 3; ++k)
      organs.push_back({&group.models[k], &group.states[k], {{}, {}, std::span(&pull, k == 2 ? 1 : 0)}});
    stepper.step(organs, group.contacts, no_bonds, 1.f / 60.f);
    for (std::size_t k = 0; k < 3; ++k) embed_surface(group.models[k], group.states[k].x, group.surfaces[k]);
  }
  EXPECT_EQ(met > 0, apart < 0.01f);
  std::uint64_t hash = 0;
  for (const SteppedTissue& state : group.states) hash = hash * 31 + test::hash_of(state);
  return hash;
}

TEST(OrganStepper, ThreadCountDoesNotChangeTheBits) {
  for (const float apart : {0.002f, 2.f}) {
    const std::uint64_t one = hash_after(1, apart);
    EXPECT_EQ(one, hash_after(1, apart)) << apart;
    EXPECT_EQ(one, hash_after(2, apart)) << apart;
    EXPECT_EQ(one, hash_after(4, apart)) << apart;
  }
}

// An organ that nothing joins with the others moves as if it were alone, while the others press on each other.
TEST(OrganStepper, AnOrganThatTouchesNothingHasItsOwnSubsteps) {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  for (const auto& [height, modulus] : {std::pair{0.f, 50000.f}, {0.041f, 3000.f}, {2.f, 3000.f}}) {
    meshes.push_back(test::fine_block({0.f, 0.f, height}, glm::vec3(0.04f), 0.008f));
    TissueParams params;
    params.youngs_modulus = modulus, params.gravity = {0.f, 0.f, -3.f};
    models.push_back(make_tissue(meshes.back().view(), params, {}));
  }
  models[0].gravity.assign(models[0].gravity.size(), glm::vec3(0.f));
  test::OrganGroup group(std::move(meshes), std::move(models));
  SteppedTissue alone = rest_state(group.models[2]);
  for (SteppedTissue* state : {&alone, &group.states[2]})
    for (std::size_t i = 0; i < state->x.size(); ++i) state->x[i] *= 1.f + 0.01f * static_cast<float>(i % 3);
  ASSERT_GT(substep_count(group.models[0], 1.f / 60.f), substep_count(group.models[2], 1.f / 60.f));
  OrganStepper stepper(2), single(1);
  OrganContacts none;
  Bonds no_bonds;
  std::size_t met = 0;
  for (int frame = 0; frame < 30; ++frame) {
    group.find(1.f / 60.f);
    met += group.contacts.contacts.size();
    std::vector<SteppedOrgan> organs;
    for (std::size_t k = 0; k < 3; ++k) organs.push_back({&group.models[k], &group.states[k], {}});
    stepper.step(organs, group.contacts, no_bonds, 1.f / 60.f);
    const SteppedOrgan same{&group.models[2], &alone, {}};
    single.step(std::span(&same, 1), none, no_bonds, 1.f / 60.f);
    for (std::size_t k = 0; k < 3; ++k) embed_surface(group.models[k], group.states[k].x, group.surfaces[k]);
    ASSERT_EQ(test::hash_of(group.states[2]), test::hash_of(alone)) << "frame " << frame;
  }
  EXPECT_GT(met, 0u);
}

TEST(OrganStepper, IgnoresInvalidTimes) {
  OrganStepper stepper(2);
  OrganContacts contacts;
  Bonds no_bonds;
  for (const float dt : {0.f, -1.f, NAN, INFINITY}) stepper.step({}, contacts, no_bonds, dt);
  stepper.step({}, contacts, no_bonds, 0.01f);
}

}  // namespace
}  // namespace trocar
