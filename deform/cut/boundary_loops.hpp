// Closes an open surface. Maintains its boundary while faces are added and removed, decomposes it into closed loops,
// and fills these: a strip of triangles joins matching loops on two sides, caps close the others, loops in a plane are
// filled with their holes. An edge is closed when equal numbers of faces run along it in both directions. For any set
// of faces the remaining edges enter each vertex as often as they leave it, so they always decompose into loops.
// Units: metres. Tested in tests/deform/sculpt_test.cpp
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

// Strips and caps. For any loops, every directed edge of the surface and the new triangles together has an opposite
// edge. Strips: Fuchs, Kedem, Uselton, "Optimal surface reconstruction from planar contours", CACM 1977; we differ: the
// cost is the squared length of the rungs, and the first rung is the shortest. Caps: the triangulation of least area,
// Barequet, Sharir, "Filling gaps in the boundary of a polyhedron", CAGD 1995.

// Adds triangles that join `skin` and `wall`, which have opposite directions: for each edge of either there is a
// triangle with the opposite edge.
void add_strip(std::span<const glm::vec3> positions, std::span<const std::uint32_t> skin,
               std::span<const std::uint32_t> wall, std::vector<glm::uvec3>& triangles);
// Adds triangles that close one loop.
void add_cap(std::span<const glm::vec3> positions, std::span<const std::uint32_t> loop,
             std::vector<glm::uvec3>& triangles);

// Returns the triangles that close all loops. `wall` [loop]: does it belong to the wall? A strip joins a loop of the
// skin and a loop of the wall whose mean distance is at most `reach` metres.
std::vector<glm::uvec3> close_loops(std::span<const glm::vec3> positions, const Loops& loops,
                                    const std::vector<char>& wall, float reach);

// Loops in the plane, by ear clipping. Outer loops run counter-clockwise, holes clockwise. For any loops, also crossing
// or degenerate ones, every directed edge of a loop belongs to one triangle and every other edge to two triangles in
// opposite directions: a surface closed by these triangles has no gap. The ears are those of mesh/polygons.hpp; holes
// are joined by bridges.

// `points`: [entry of loops.vertex]. `shared`: [entry] triangles whose corners are all shared are avoided; empty: none
// is. Returns triangles of vertices (values of loops.vertex).
std::vector<glm::uvec3> fill_loops(const Loops& loops, std::span<const glm::dvec2> points,
                                   std::span<const char> shared = {});

}  // namespace trocar
