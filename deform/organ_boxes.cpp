// Computes bounding boxes and speeds of organs. They decide, before the search, which organs may touch.
#include <algorithm>
#include <cmath>

#include "deform/contact/organ_contact.hpp"
#include "deform/organ_foresight.hpp"

namespace trocar {
namespace {

using Box = OrganContacts::Box;

Box node_box(std::span<const glm::vec3> nodes) {
  Box box{glm::vec3(INFINITY), glm::vec3(-INFINITY)};
  for (const glm::vec3& p : nodes) box.low = glm::min(box.low, p), box.high = glm::max(box.high, p);
  return box;
}

float fastest_node(std::span<const glm::vec3> velocity) {
  float square = 0.f;
  for (const glm::vec3& v : velocity) square = std::max(square, glm::dot(v, v));
  return std::sqrt(square);
}

}  // namespace

void measure_organs(std::span<const OrganBody> organs, OrganContacts& contacts) {
  if (organs.size() < 2) return;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    contacts.box[k] = node_box(organs[k].state->x);
    contacts.fastest[k] = fastest_node(organs[k].state->v);
  }
}

// Returns the box of an organ grown by half of the distance at which contacts of a pair are searched.
OrganContacts::Box contact_box(const OrganContacts& contacts, std::uint32_t organ, float dt) {
  constexpr float kRounding = 1e-5f;  // m
  if (organ >= contacts.box.size()) return {glm::vec3(INFINITY), glm::vec3(-INFINITY)};
  const Box& box = contacts.box[organ];
  const float share = contact_foresight(2.f * contacts.fastest[organ], dt) / 2.f + kRounding;
  return {box.low - share, box.high + share};
}

}  // namespace trocar
