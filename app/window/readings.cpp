#include "app/window/readings.hpp"

#include <algorithm>

namespace trocar {

DamageReading reading_of(const TissueDamage& damage) {
  DamageReading reading;
  for (const std::uint8_t marks : damage.marks) {
    reading.burnt += (marks & kBurnt) != 0;
    reading.torn += (marks & kTorn) != 0;
    reading.crushed += (marks & kCrushed) != 0;
  }
  for (const float peak : damage.peak) reading.peak = std::max(reading.peak, peak);
  return reading;
}

const InstrumentClash* deepest_clash(std::span<const InstrumentClash> clashes) {
  const InstrumentClash* deepest = nullptr;
  for (const InstrumentClash& clash : clashes)
    if (clash.distance < (deepest ? deepest->distance : 0.0)) deepest = &clash;
  return deepest;
}

}  // namespace trocar
