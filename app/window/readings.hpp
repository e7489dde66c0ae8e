// What the overlay says of an organ: how much of it was harmed; and of instruments that run into each other. Units:
// metres, pascals.   Tested in tests/app/session_tissue_test.cpp, encounters_test.cpp
#pragma once

#include <cstdint>
#include <span>

#include "app/session/instrument_clash.hpp"
#include "deform/damage.hpp"

namespace trocar {

struct DamageReading {
  std::uint32_t burnt = 0, torn = 0, crushed = 0;  // faces since the start; one may count twice
  float peak = 0.f;                                // Pa, greatest pressure any face ever bore
};

DamageReading reading_of(const TissueDamage& damage);

// The instruments that are deepest in each other; null when none collide.
const InstrumentClash* deepest_clash(std::span<const InstrumentClash> clashes);

}  // namespace trocar
