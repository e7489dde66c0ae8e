#include "deform/damage.hpp"

#include <algorithm>

namespace trocar {

void add_contact_damage(const ContactList& list, const SteppedTissue& state, std::span<const glm::uvec3> faces,
                        std::span<const FaceId> ids, std::span<const glm::vec3> positions, float dt,
                        std::span<float> pressure, TissueDamage& damage) {
  for (std::size_t i = 0; i < list.contacts.size();) {
    const std::uint32_t slot = index(list.face_of[i]);
    float force = 0.f;
    for (; i < list.contacts.size() && index(list.face_of[i]) == slot; ++i)
      force += glm::length(contact_force(state, i, i + 1));
    if (!(force > 0.f)) continue;
    const glm::uvec3& f = faces[slot];
    const glm::vec3 a = positions[f.x];
    const float area = 0.5f * glm::length(glm::cross(positions[f.y] - a, positions[f.z] - a));
    const float p = force / std::max(area, list.params.smallest_area);
    const std::uint32_t id = index(ids[slot]);
    pressure[slot] += p;
    damage.peak[id] = std::max(damage.peak[id], pressure[slot]);
    damage.integral[id] += p * dt;
  }
}

void clear_pressure(const ContactList& list, std::span<float> pressure) {
  for (const FaceId slot : list.face_of) pressure[index(slot)] = 0.f;
}

}  // namespace trocar
