// What was done to each face of an organ: the greatest pressure it bore, pressure over time, and whether it was burnt,
// torn, crushed or cut. Pressure on a face is the force of its contacts over its area, never over less than
// kSmallestArea: a mesh finer than a tool's tip is not hurt more for it. Units: pascals, seconds, newtons, square
// metres.   Tested in tests/deform/damage_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact.hpp"
#include "deform/tissue.hpp"

namespace trocar {

constexpr float kSmallestArea = 5e-6f;  // m^2

enum DamageMark : std::uint8_t { kBurnt = 1, kTorn = 2, kCrushed = 4, kSnipped = 8 };

struct TissueDamage {
  std::vector<float> peak;          // [face id] Pa
  std::vector<float> integral;      // [face id] Pa s
  std::vector<std::uint8_t> marks;  // [face id] of DamageMark

  void resize(std::size_t faces) { peak.resize(faces), integral.resize(faces), marks.resize(faces); }
  void mark(std::span<const FaceId> faces, DamageMark how) {
    for (const FaceId face : faces) marks[index(face)] |= how;
  }
};

// After a step of `dt` seconds. `ids`: [slot] face ids; the contacts name slots. `pressure`: [slot] of this step, Pa,
// all zero before; set for the faces in contact. Sizes: `damage` holds every id.
void add_contact_damage(const ContactList& list, const TissueState& state, std::span<const glm::uvec3> faces,
                        std::span<const FaceId> ids, std::span<const glm::vec3> positions, float dt,
                        std::span<float> pressure, TissueDamage& damage);

// Sets those faces' pressure back to zero.
void clear_pressure(const ContactList& list, std::span<float> pressure);

}  // namespace trocar
