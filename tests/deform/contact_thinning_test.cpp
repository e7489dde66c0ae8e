// Tests which contacts of a part remain: one of those at the same point, the deepest of those close together when there
// are many, all others in their order.
#include "deform/contact/contact.hpp"

#include <numeric>
#include <random>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

// A list with contacts at vertices 0 .. n - 1 with these gaps, caused by faces of the same numbers.
ContactList list_of(std::span<const float> gaps, std::span<const glm::vec3> normals) {
  ContactList list;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    list.add({0, i, normals[i % normals.size()]}, static_cast<double>(gaps[i]));
    list.face_of.push_back(FaceId(i));
  }
  return list;
}

TEST(ContactThinning, KeepsOneContactOfAPoint) {
  const std::vector<glm::vec3> positions{{0, 0, 0}, {1e-7f, 0, 0}, {0, 2e-3f, 0}, {0, 0, 0}};
  const std::vector<float> gaps{1e-3f, 5e-4f, 0.f, 5e-4f};
  ContactList list = list_of(gaps, std::vector<glm::vec3>{{0, 0, 1}});
  thin_contacts(0, positions, list);
  ASSERT_EQ(list.contacts.size(), 2u);
  EXPECT_EQ(list.contacts[0].vertex, 1u) << "of equal gaps the first";
  EXPECT_EQ(list.contacts[1].vertex, 2u);
  EXPECT_EQ(list.face_of[0], FaceId(1));
  EXPECT_EQ(list.gap[1], 0.f);
}

TEST(ContactThinning, KeepsContactsOfDifferentNormalsAndEarlierTools) {
  const std::vector<glm::vec3> positions(4, glm::vec3(0.f));
  const std::vector<float> gaps(4, 0.f);
  ContactList list = list_of(gaps, std::vector<glm::vec3>{{0, 0, 1}, {0, 1, 0}});
  thin_contacts(2, positions, list);
  EXPECT_EQ(list.contacts.size(), 4u);
  thin_contacts(0, positions, list);
  EXPECT_EQ(list.contacts.size(), 2u);
}

// Many contacts on a plane: every one that was removed has a deeper one within the spacing, and no two are closer.
TEST(ContactThinning, ThinsManyContactsToTheSpacing) {
  for (const std::size_t count : {kManyContacts, kManyContacts + 1, std::size_t{2000}}) {
    std::vector<glm::vec3> positions;
    std::vector<float> gaps;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t column = i % 45, row = i / 45;
      positions.emplace_back(static_cast<float>(column) * 2e-4f, static_cast<float>(row) * 2e-4f, 0.f);
      gaps.push_back(1e-6f * static_cast<float>((i * 7919) % 1009));
    }
    ContactList list = list_of(gaps, std::vector<glm::vec3>{{0, 0, 1}});
    thin_contacts(0, positions, list);
    std::printf("%zu contacts, %zu remain\n", count, list.contacts.size());
    if (count <= kManyContacts) {
      EXPECT_EQ(list.contacts.size(), count);
      continue;
    }
    EXPECT_LT(list.contacts.size(), count / 3);
    const auto distance = [&](std::uint32_t a, std::uint32_t b) { return glm::distance(positions[a], positions[b]); };
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto stands_for = [&](const TissueContact& kept) {
        return distance(kept.vertex, i) < kContactSpacing && gaps[kept.vertex] <= gaps[i];
      };
      EXPECT_TRUE(std::any_of(list.contacts.begin(), list.contacts.end(), stands_for)) << i;
    }
    for (std::size_t i = 0; i < list.contacts.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_GE(distance(list.contacts[i].vertex, list.contacts[k].vertex), kContactSpacing);
        EXPECT_LT(list.contacts[k].vertex, list.contacts[i].vertex) << "the order is kept";
      }
  }
}

// The same by comparing all pairs of the contacts `order`.
std::vector<std::uint32_t> thinned_by_pairs(std::span<const glm::vec3> positions, const ContactList& list,
                                            float spacing, std::vector<std::uint32_t> order) {
  std::vector<std::uint32_t> kept;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return list.gap[a] < list.gap[b]; });
  for (const std::uint32_t i : order) {
    const auto stands_for = [&](std::uint32_t k) {
      const glm::vec3 apart = positions[k] - positions[i];
      return glm::dot(apart, apart) < spacing * spacing &&
             glm::dot(list.contacts[k].normal, list.contacts[i].normal) > kSameContactNormal;
    };
    if (std::none_of(kept.begin(), kept.end(), stands_for)) kept.push_back(i);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

TEST(ContactThinning, EqualsTheComparisonOfAllPairs) {
  std::mt19937 random(2230);
  std::printf("seed 2230\n");
  const auto uniform = [&] { return static_cast<float>(random() >> 8) / 16777216.f - 0.5f; };
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 400;
    const float size = round % 2 ? 4e-6f : 8e-3f;  // m
    const glm::vec3 centre = 0.3f * glm::vec3(uniform(), uniform(), uniform());
    std::vector<glm::vec3> positions, normals;
    std::vector<float> gaps;
    for (std::size_t i = 0; i < count; ++i) {
      positions.push_back(centre + size * glm::vec3(uniform(), uniform(), uniform()));
      normals.push_back(glm::normalize(glm::vec3(uniform(), uniform(), 1.f)));
      gaps.push_back(1e-5f * static_cast<float>(random() % 50));
    }
    ContactList list = list_of(gaps, normals);
    std::vector<std::uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0u);
    expected = thinned_by_pairs(positions, list, kSameContact, expected);
    if (expected.size() > kManyContacts) expected = thinned_by_pairs(positions, list, kContactSpacing, expected);
    thin_contacts(0, positions, list);
    ASSERT_EQ(list.contacts.size(), expected.size()) << "round " << round;
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(list.contacts[i].vertex, expected[i]);
  }
}

}  // namespace
}  // namespace trocar
