// Tests which contacts of a part remain: one of those at the same point, the deepest of those close together when there
// are many, all others in their order.
#include "deform/contact_thinning.hpp"

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
      const float a = static_cast<float>(i % 45), b = static_cast<float>(i / 45);
      positions.emplace_back(a * 2e-4f, b * 2e-4f, 0.f);
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

}  // namespace
}  // namespace trocar
