#include "cpu_collision/trees/padded_positions.hpp"

namespace trocar {

void PaddedPositions::assign(std::span<const glm::vec3> positions) {
  count_ = positions.size();
  room_.resize(count_ + 1);
  if (count_ > 0) std::memcpy(room_.data(), positions.data(), positions.size_bytes());
}

// Reads whole vectors of the flat array: the order of the coordinates does not matter.
float reach_of(std::span<const glm::vec3> positions) {
  if (positions.empty()) return 0.f;
  const float* flat = &positions[0].x;
  Lanes4 lanes_max = lanes(0.f);
  std::size_t k = 0;
  for (; k + 4 <= 3 * positions.size(); k += 4) {
    Lanes4 four;
    std::memcpy(&four, flat + k, sizeof(four));
    lanes_max = max(lanes_max, abs(four));
  }
  float largest = std::fmax(std::fmax(lanes_max[0], lanes_max[1]), std::fmax(lanes_max[2], lanes_max[3]));
  for (; k < 3 * positions.size(); ++k) largest = std::fmax(largest, std::abs(flat[k]));
  return largest;
}

}  // namespace trocar
