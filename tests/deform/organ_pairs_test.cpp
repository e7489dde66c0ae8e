// Tests that a search of only those pairs of organs whose boxes overlap finds the same contacts as a search of all
// pairs.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "tests/deform/organ_group.hpp"

namespace trocar {
namespace {

constexpr float kFrame = 1.f / 60.f;
constexpr std::uint32_t kSeed = 71, kOrgans = 3;

std::vector<OrganPair> pairs_that_meet(const OrganContacts& contacts) {
  std::vector<OrganPair> pairs;
  for (std::uint32_t a = 0; a < kOrgans; ++a)
    for (std::uint32_t b = a + 1; b < kOrgans; ++b) {
      const auto box = contact_box(contacts, a, kFrame), other = contact_box(contacts, b, kFrame);
      if (glm::all(glm::lessThanEqual(box.low, other.high)) && glm::all(glm::lessThanEqual(other.low, box.high)))
        pairs.push_back({a, b});
    }
  return pairs;
}

// Tests blocks in a row that drift at all distances and speeds.
TEST(OrganPairs, BoxesThatDoNotMeetHaveNoContacts) {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  for (std::uint32_t k = 0; k < kOrgans; ++k) {
    meshes.push_back(test::fine_block({0.f, 0.f, 0.044f * static_cast<float>(k)}, glm::vec3(0.04f), 0.01f));
    models.push_back(make_tissue(meshes[k].view(), {}, {}));
  }
  test::OrganGroup group(std::move(meshes), std::move(models));
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> even(-1.f, 1.f);
  std::size_t found = 0, left_out = 0;
  for (int k = 0; k < 400; ++k) {
    const float speed = std::pow(10.f, 1.5f * even(random) - 0.5f);
    for (std::size_t organ = 0; organ < kOrgans; ++organ) {
      const glm::vec3 by = 0.012f * glm::vec3(even(random), even(random), even(random));
      const glm::vec3 velocity = speed * glm::vec3(even(random), even(random), even(random));
      SteppedTissue& state = group.states[organ];
      for (std::size_t i = 0; i < state.x.size(); ++i) {
        state.x[i] = group.models[organ].rest[i] + by;
        state.v[i] = velocity * (0.5f + 0.5f * even(random));
      }
      embed_surface(group.models[organ], state.x, group.surfaces[organ]);
    }
    group.find(kFrame);
    const std::vector<PairContact> all = group.contacts.contacts;
    measure_organs(group.bodies, group.contacts);
    const std::vector<OrganPair> pairs = pairs_that_meet(group.contacts);
    find_organ_contacts(group.bodies, pairs, kFrame, group.contacts);
    ASSERT_EQ(group.contacts.contacts.size(), all.size()) << "seed " << kSeed << " case " << k;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const PairContact& c = group.contacts.contacts[i];
      ASSERT_TRUE(c.a == all[i].a && c.b == all[i].b && c.vertex == all[i].vertex && c.gap == all[i].gap &&
                  c.normal == all[i].normal);
    }
    found += all.size(), left_out += 3 - pairs.size();
  }
  std::printf("%zu contacts in 400 frames, %zu of 1200 pairs skipped\n", found, left_out);
  EXPECT_GT(found, 1000u);
  EXPECT_GT(left_out, 200u);
}

TEST(OrganPairs, SingleOrganHasNoPairs) {
  const OrganContacts none;
  const auto box = contact_box(none, 0, kFrame);
  EXPECT_GT(box.low.x, box.high.x);
}

}  // namespace
}  // namespace trocar
