#include "deform/contact_thinning.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace trocar {
namespace {

constexpr std::uint32_t kNone = ~0u;

// The contacts that remain, in a hash table of the cubes that hold their points. A slot may list several cubes.
class KeptContacts {
 public:
  KeptContacts(std::size_t first, float spacing, ContactList& list)
      : first_(first), spacing_(spacing), scratch_(list.thinning), list_(list) {
    scratch_.slot.assign(std::bit_ceil(scratch_.point.size() + 1), kNone);
    scratch_.next.resize(scratch_.point.size());
  }

  void add(std::uint32_t contact) {
    std::uint32_t& slot = slot_of(glm::ivec3(glm::floor(in_cubes(contact))));
    next_of(contact) = slot;
    slot = contact;
  }

  // Does one that remains stand for this contact?
  bool stands_for(std::uint32_t contact) const {
    const glm::ivec3 low(glm::floor(in_cubes(contact) - 0.5));
    for (int i = 0; i < 8; ++i)
      for (std::uint32_t k = slot_of(low + glm::ivec3(i & 1, i >> 1 & 1, i >> 2)); k != kNone; k = next_of(k))
        if (are_same(k, contact)) return true;
    return false;
  }

 private:
  const glm::vec3& point(std::uint32_t contact) const { return scratch_.point[contact - first_]; }
  bool are_same(std::uint32_t a, std::uint32_t b) const {
    const glm::vec3 apart = point(a) - point(b);
    return glm::dot(apart, apart) < spacing_ * spacing_ &&
           glm::dot(list_.contacts[a].normal, list_.contacts[b].normal) > kSameContactNormal;
  }
  std::uint32_t& next_of(std::uint32_t contact) const { return scratch_.next[contact - first_]; }
  // With a side above two spacings, everything within a spacing of a point lies in the eight cubes nearest to it.
  glm::dvec3 in_cubes(std::uint32_t contact) const { return glm::dvec3(point(contact)) / (2.001 * spacing_); }
  std::uint32_t& slot_of(const glm::ivec3& cube) const {
    const glm::uvec3 mixed = glm::uvec3(cube) * glm::uvec3(0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du);
    const std::uint32_t hash = mixed.x ^ mixed.y ^ mixed.z;
    return scratch_.slot[(hash ^ hash >> 15) & (scratch_.slot.size() - 1)];
  }

  std::size_t first_;
  float spacing_;
  ThinningScratch& scratch_;
  const ContactList& list_;
};

// Goes from the deepest contact outwards; equal gaps keep the order of the list.
void thin(std::size_t first, float spacing, std::span<const glm::vec3> positions, ContactList& list) {
  ThinningScratch& scratch = list.thinning;
  scratch.order.resize(list.contacts.size() - first);
  std::iota(scratch.order.begin(), scratch.order.end(), static_cast<std::uint32_t>(first));
  std::sort(scratch.order.begin(), scratch.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return list.gap[a] != list.gap[b] ? list.gap[a] < list.gap[b] : a < b;
  });
  scratch.point.clear();
  for (std::size_t i = first; i < list.contacts.size(); ++i)
    scratch.point.push_back(contact_position(list.contacts[i], positions));
  scratch.kept.clear();
  KeptContacts kept(first, spacing, list);
  for (const std::uint32_t i : scratch.order)
    if (!kept.stands_for(i)) kept.add(i), scratch.kept.push_back(i);
  std::sort(scratch.kept.begin(), scratch.kept.end());
  std::size_t to = first;
  for (const std::uint32_t i : scratch.kept) {
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
