// Maintains the boundary of an open surface while faces are added and removed, and decomposes it into closed loops. An
// edge is closed when equal numbers of faces run along it in both directions. For any set of faces the remaining edges
// enter each vertex as often as they leave it, so they always decompose into loops.
// Tested in tests/deform/sculpt_loft_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

// An edge along which faces run from u to v `net` times more often than from v to u.
struct RimEdge {
  std::uint32_t u, v;  // vertices, u < v
  int net;             // 1, nonzero
};

// Appends the edges of a face that was added (sign +1) or removed (-1).
void add_edges(const glm::uvec3& face, int sign, std::vector<RimEdge>& edges);
// Adds `changes` to the boundary, sorted by u, v. Sorts `changes`.
void update_rim(std::vector<RimEdge>& rim, std::vector<RimEdge>& changes);

struct Loops {
  std::vector<std::uint32_t> vertex;     // in the direction of the faces along the boundary
  std::vector<std::uint32_t> first{0u};  // [loop + 1] vertices of loop k are first[k] .. first[k + 1]

  std::size_t count() const { return first.size() - 1; }
  std::span<const std::uint32_t> loop(std::size_t k) const {
    return std::span(vertex).subspan(first[k], first[k + 1] - first[k]);
  }
  void close() { first.push_back(static_cast<std::uint32_t>(vertex.size())); }
};

// Decomposes the boundary into loops. Each loop visits a vertex at most once.
Loops find_loops(std::span<const RimEdge> rim);

}  // namespace trocar
