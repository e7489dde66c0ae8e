// The rims of an open surface, kept up to date while faces come and go, and taken apart into closed loops.
// An edge that faces run through as often one way as the other is closed. Whatever faces there are, the edges left over
// enter every vertex as often as they leave it, so they always come apart into loops.
// Tested in tests/deform/sculpt_loft_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

// Faces run from u to v `net` times more often than from v to u.
struct RimEdge {
  std::uint32_t u, v;  // vertices, u < v
  int net;             // 1, not 0
};

// Edges of faces that came (sign +1) or went (-1).
void add_edges(const glm::uvec3& face, int sign, std::vector<RimEdge>& edges);
// Rim with `changes` added: sorted by u, v. `changes` is sorted on the way.
void update_rim(std::vector<RimEdge>& rim, std::vector<RimEdge>& changes);

struct Loops {
  std::vector<std::uint32_t> vertex;     // in the direction of the faces along the rim
  std::vector<std::uint32_t> first{0u};  // [loop + 1] vertices of loop k are first[k] .. first[k + 1]

  std::size_t count() const { return first.size() - 1; }
  std::span<const std::uint32_t> loop(std::size_t k) const {
    return std::span(vertex).subspan(first[k], first[k + 1] - first[k]);
  }
  void close() { first.push_back(static_cast<std::uint32_t>(vertex.size())); }
};

// No loop passes a vertex twice.
Loops find_loops(std::span<const RimEdge> rim);

}  // namespace trocar
