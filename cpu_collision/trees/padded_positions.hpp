// Stores vertex positions with padding behind the last, so that a vertex can be read as four floats.
// Units: metres.   Tested through tests/study/tree_build_test.cpp
#pragma once

#include <cstring>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "cpu_collision/lanes.hpp"

namespace trocar {

class PaddedPositions {
 public:
  PaddedPositions() : room_(1) {}
  explicit PaddedPositions(std::span<const glm::vec3> positions) { assign(positions); }

  // Copies the positions. Allocates only when there are more positions than in all earlier calls.
  void assign(std::span<const glm::vec3> positions);
  // Returns x, y, z, and an undefined fourth lane.
  Lanes4 operator[](std::uint32_t vertex) const {
    Lanes4 four;
    std::memcpy(&four, &room_[vertex], sizeof(four));
    return four;
  }
  std::span<const glm::vec3> view() const { return {room_.data(), count_}; }
  std::size_t memory_bytes() const { return room_.capacity() * sizeof(glm::vec3); }

 private:
  std::vector<glm::vec3> room_;  // [vertex + 1] m
  std::size_t count_ = 0;
};

// Returns the largest coordinate, m.
float reach_of(std::span<const glm::vec3> positions);

}  // namespace trocar
