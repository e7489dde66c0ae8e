// Cuts a simple polygon into triangles (ear clipping) and into convex pieces (Hertel and Mehlhorn).
// Sources: document 001 (docs/planar.md) III-A-2, "De non convexe à convexe"; Hertel, Mehlhorn, "Fast triangulation of
// the plane with respect to simple polygons", 1985. We differ from the first: an ear must turn inward and contain no
// other corner; the source asks only for the turn, and then cuts across the outside (counterexample in docs/planar.md).
// Any unit; y up.
// Checked on random polygons in tests/geometry/planar_triangulate_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/planar/polygon.hpp"

namespace trocar::planar {

using CornerTriangle = std::array<std::uint32_t, 3>;  // corner indices, counter-clockwise

// Returns n - 2 triangles that cover the polygon once; there is one fewer for each repeated corner and for each corner
// that lies on a straight side while ears are cut. Accepts either orientation. Throws InputError with the sentence of
// simple_fault().
// O(n^2) for hand-drawn outlines, O(n^3) at worst.
std::vector<CornerTriangle> triangulate(Corners polygon);

// Pieces as runs of corner indices, counter-clockwise: piece i is corner[start[i]] .. corner[start[i + 1] - 1].
struct ConvexPieces {
  std::vector<std::uint32_t> corner;  // [all pieces' corners]
  std::vector<std::uint32_t> start;   // [piece + 1]

  std::size_t count() const { return start.size() - 1; }
};

// Returns convex pieces that cover the polygon once: removes from the triangulation every diagonal that convexity does
// not need. There are at most 2 r + 1 pieces for r reflex corners, so at most four times the minimum. A piece may have
// corners along a side. Throws the same errors as triangulate().
ConvexPieces convex_pieces(Corners polygon);

}  // namespace trocar::planar
