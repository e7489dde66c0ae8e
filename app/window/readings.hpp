// Computes values for the overlay: the damage to an organ, and the deepest collision between instruments.
// Units: metres, pascals.   Tested in tests/sim/recorded_tissue_test.cpp, recorded_session_test.cpp
#pragma once

#include <cstdint>
#include <span>

#include "deform/damage.hpp"
#include "sim/session/organ_queries.hpp"

namespace trocar {

struct DamageReading {
  std::uint32_t burnt = 0, torn = 0, crushed = 0;  // faces since the start; a face may count in several
  float peak = 0.f;                                // Pa, highest pressure on any face since the start
};

DamageReading reading_of(const TissueDamage& damage);

// Returns the collision with the deepest penetration; null when no instruments collide.
const InstrumentClash* deepest_clash(std::span<const InstrumentClash> clashes);

}  // namespace trocar
