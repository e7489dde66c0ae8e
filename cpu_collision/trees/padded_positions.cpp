#include "cpu_collision/trees/padded_positions.hpp"

namespace trocar {

void PaddedPositions::assign(std::span<const glm::vec3> positions) {
  count_ = positions.size();
  room_.resize(count_ + 1);
  if (count_ > 0) std::memcpy(room_.data(), positions.data(), positions.size_bytes());
}

// Whole vectors of the flat array: which coordinate is which does not matter.
float reach_of(std::span<const glm::vec3> positions) {
  if (positions.empty()) return 0.f;
  const float* flat = &positions[0].x;
  Lanes4 reach = lanes(0.f);
  std::size_t k = 0;
  for (; k + 4 <= 3 * positions.size(); k += 4) {
    Lanes4 four;
    std::memcpy(&four, flat + k, sizeof(four));
    reach = max(reach, abs(four));
  }
  float largest = std::fmax(std::fmax(reach[0], reach[1]), std::fmax(reach[2], reach[3]));
  for (; k < 3 * positions.size(); ++k) largest = std::fmax(largest, std::abs(flat[k]));
  return largest;
}

}  // namespace trocar
