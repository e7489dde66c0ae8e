// Defines the modes of diathermy: which of the two pedals is down. Recordings store the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trocar {

enum class Diathermy : std::uint8_t { Off = 0, Cut = 1, Coagulate = 2 };

// Returns the mode for two pedals; the pedal for cutting has priority.
constexpr Diathermy pedals(bool cut, bool coagulate) {
  return cut ? Diathermy::Cut : coagulate ? Diathermy::Coagulate : Diathermy::Off;
}

// Sets of organs have one bit for each organ and one for the abdominal wall. Scenes whose task tells organs apart by
// them have at most this many (sim/scene/scene.cpp).
inline constexpr std::size_t kMostTaskOrgans = 31;

// Returns the bit of an organ in a set of organs. The wall, and organs that no task tells apart, have the last one.
constexpr std::uint32_t organ_bit(std::size_t organ) {
  return std::uint32_t{1} << (organ < kMostTaskOrgans ? organ : kMostTaskOrgans);
}

}  // namespace trocar
