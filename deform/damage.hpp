// Records the damage of each face of an organ: its peak pressure, the time integral of its pressure, and whether it was
// burnt, torn, crushed or cut. The pressure at a face is a mean over a patch around its contact, of the size of a
// tool's cross-section (ContactParams::patch_area): the same press gives nearly the same pressure on coarse and fine
// meshes. Units: pascals, seconds, newtons, square metres. Tested in tests/deform/damage_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

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

// Returns the pressure at a point, Pa: each force counts 2 (1 - d^2 / r^2) / area, where d is its distance and r the
// radius of a disc of this area. Forces spread evenly over a flat patch wider than the disc give their pressure, a
// single one twice its share.
float patch_pressure(std::span<const FaceLoad> loads, const glm::vec3& at, float area);

// Adds the damage of a step of `dt` seconds; call it after the step. `ids`: [slot] face ids; the contacts refer to
// slots. `pressure`: [slot] of this step, Pa; it must be zero before the call, which sets it for the faces in contact.
// `damage` must have an entry for every id. Uses the scratch of the list.
void add_contact_damage(ContactList& list, const SteppedTissue& state, std::span<const FaceId> ids,
                        std::span<const glm::vec3> positions, float dt, std::span<float> pressure,
                        TissueDamage& damage);

// Resets the pressure of the faces in contact to zero.
void clear_pressure(const ContactList& list, std::span<float> pressure);

}  // namespace trocar
