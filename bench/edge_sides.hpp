// Sorts the sides of all faces so that both sides of an edge are adjacent. Every structure of edge_structures.cpp is
// built from this list, so that its cost is the same for each. Side h belongs to face h / 3 and starts at its
// corner h % 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <glm/glm.hpp>
#include <limits>
#include <span>
#include <vector>

namespace trocar::bench {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Side {
  std::uint64_t key;  // the edge's vertices, the lower in the high half
  std::uint32_t half_edge;
};

constexpr std::uint32_t next_side(std::uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
constexpr std::uint32_t previous_side(std::uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }
inline std::uint32_t start_of(std::span<const glm::uvec3> faces, std::uint32_t h) { return faces[h / 3][h % 3]; }
inline std::uint32_t end_of(std::span<const glm::uvec3> faces, std::uint32_t h) {
  return faces[h / 3][next_side(h) % 3];
}

inline std::vector<Side> sorted_sides(std::span<const glm::uvec3> faces) {
  std::vector<Side> sides(3 * faces.size());
  for (std::uint32_t h = 0; h < sides.size(); ++h) {
    const auto [low, high] = std::minmax({start_of(faces, h), end_of(faces, h)});
    sides[h] = {std::uint64_t(low) << 32 | high, h};
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.key != b.key ? a.key < b.key : a.half_edge < b.half_edge; });
  return sides;
}

}  // namespace trocar::bench
