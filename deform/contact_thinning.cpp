#include "deform/contact_thinning.hpp"

#include <algorithm>
#include <numeric>

namespace trocar {
namespace {

glm::vec3 point_of(const TissueContact& c, std::span<const glm::vec3> positions) {
  return (1.f - c.u - c.v) * positions[c.vertex] + c.u * positions[c.second] + c.v * positions[c.third];
}

// Goes from the deepest contact outwards; equal gaps keep the order of the list.
void thin(std::size_t first, float spacing, std::span<const glm::vec3> positions, ContactList& list) {
  list.order.resize(list.contacts.size() - first);
  std::iota(list.order.begin(), list.order.end(), static_cast<std::uint32_t>(first));
  std::sort(list.order.begin(), list.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return list.gap[a] != list.gap[b] ? list.gap[a] < list.gap[b] : a < b;
  });
  list.kept.clear();
  for (const std::uint32_t i : list.order) {
    const glm::vec3 point = point_of(list.contacts[i], positions), normal = list.contacts[i].normal;
    const bool spare = std::any_of(list.kept.begin(), list.kept.end(), [&](std::uint32_t k) {
      const glm::vec3 apart = point_of(list.contacts[k], positions) - point;
      return glm::dot(apart, apart) < spacing * spacing &&
             glm::dot(list.contacts[k].normal, normal) > kSameContactNormal;
    });
    if (!spare) list.kept.push_back(i);
  }
  std::sort(list.kept.begin(), list.kept.end());
  std::size_t to = first;
  for (const std::uint32_t i : list.kept) {
    list.contacts[to] = list.contacts[i];
    list.face_of[to] = list.face_of[i];
    list.gap[to++] = list.gap[i];
  }
  list.contacts.resize(to);
  list.face_of.resize(to);
  list.gap.resize(to);
}

}  // namespace

void thin_contacts(std::size_t first, std::span<const glm::vec3> positions, ContactList& list) {
  thin(first, kSameContact, positions, list);
  if (list.contacts.size() - first > kManyContacts) thin(first, kContactSpacing, positions, list);
}

}  // namespace trocar
