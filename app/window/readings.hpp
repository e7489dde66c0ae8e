// What the overlay says of an organ: how much of it was harmed. Units: pascals.   Tested in
// tests/app/session_tissue_test.cpp
#pragma once

#include <cstdint>

#include "deform/damage.hpp"

namespace trocar {

struct DamageReading {
  std::uint32_t burnt = 0, torn = 0, crushed = 0;  // faces since the start; one may count twice
  float peak = 0.f;                                // Pa, greatest pressure any face ever bore
};

DamageReading reading_of(const TissueDamage& damage);

}  // namespace trocar
