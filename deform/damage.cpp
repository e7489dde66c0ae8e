#include "deform/damage.hpp"

#include <algorithm>
#include <numbers>

namespace trocar {
namespace {

// The contacts of a face by one tool follow each other.
void list_loads(ContactList& list, const SteppedTissue& state, std::span<const glm::vec3> positions) {
  list.loads.clear();
  for (std::size_t i = 0; i < list.contacts.size();) {
    FaceLoad load{static_cast<std::uint32_t>(index(list.face_of[i])), glm::vec3(0.f), 0.f};
    for (; i < list.contacts.size() && index(list.face_of[i]) == load.slot; ++i) {
      const float force = glm::length(contact_force(state, i, i + 1));
      load.force += force;
      load.point += force * contact_position(list.contacts[i], positions);
    }
    if (!(load.force > 0.f)) continue;
    load.point /= load.force;
    list.loads.push_back(load);
  }
}

}  // namespace

float patch_pressure(std::span<const FaceLoad> loads, const glm::vec3& at, float area) {
  const float squared_radius = area / std::numbers::pi_v<float>;
  float sum = 0.f;
  for (const FaceLoad& load : loads) {
    const glm::vec3 apart = load.point - at;
    sum += load.force * std::max(0.f, 1.f - glm::dot(apart, apart) / squared_radius);
  }
  return 2.f * sum / area;
}

void add_contact_damage(ContactList& list, const SteppedTissue& state, std::span<const FaceId> ids,
                        std::span<const glm::vec3> positions, float dt, std::span<float> pressure,
                        TissueDamage& damage) {
  list_loads(list, state, positions);
  for (const FaceLoad& load : list.loads) {
    const std::uint32_t id = index(ids[load.slot]);
    // Two tools may press the same face: it takes the larger pressure.
    const float before = pressure[load.slot];
    const float now = std::max(before, patch_pressure(list.loads, load.point, list.params.patch_area));
    pressure[load.slot] = now;
    damage.peak[id] = std::max(damage.peak[id], now);
    damage.integral[id] += (now - before) * dt;
  }
}

void clear_pressure(const ContactList& list, std::span<float> pressure) {
  for (const FaceId slot : list.face_of) pressure[index(slot)] = 0.f;
}

}  // namespace trocar
