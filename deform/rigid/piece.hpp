// Convex pieces of rigid bodies and of instruments: all points within `radius` of the convex hull of some corners, like
// the parts of instruments (geometry/part.hpp). A ball has one corner, a capsule two, a box with rounded edges eight.
// meet() finds where two pieces touch: the normal, and up to eight points that carry a load.
// Based on: separating axes and clipping of faces as in D. Gregorius, "The separating axis test between convex
// polyhedra", Game Developers Conference 2013. We differ: while the hulls are apart, the search for their closest
// points (geometry/closest.hpp) gives the normal, which is exact for round edges and corners too; axes are tried only
// where the hulls themselves meet.
// Units: metres.   Tested in tests/deform/rigid_piece_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/frame.hpp"
#include "geometry/part.hpp"

namespace trocar {

struct PieceFace {
  glm::dvec3 normal{0.0};          // unit, outward
  std::vector<std::uint8_t> loop;  // its corners, counter-clockwise seen from outside
};

struct ConvexPiece {
  std::vector<glm::dvec3> corners;                 // m   1 .. kMostCorners
  double radius = 0.0;                             // m   >= kLeastRounding
  std::vector<PieceFace> faces;                    // of the hull; a flat hull has two; a point or a segment has none
  std::vector<std::array<std::uint8_t, 2>> edges;  // of the hull
};

// Pieces are at least this round, so that a body at rest stays clear of what would make its hull meet another.
constexpr double kLeastRounding = 1e-4;  // m

// Makes a piece: finds the faces and edges of the hull. Throws InputError without corners, with too many, for a
// coordinate that is not finite or farther than 10 m, or for a radius below kLeastRounding (or above 1 m).
ConvexPiece make_piece(std::span<const glm::dvec3> corners, double radius);

// A piece in the world.
struct PosedPiece {
  const ConvexPiece* piece = nullptr;
  glm::dmat3 axes{1.0};
  std::array<glm::dvec3, kMostCorners> corner;  // m
  glm::dvec3 low{0.0}, high{0.0};               // m, box around it, the radius included

  std::span<const glm::dvec3> corners() const { return {corner.data(), piece->corners.size()}; }
};
void pose(const ConvexPiece& piece, const RigidFrame& frame, PosedPiece& posed);

struct MeetingPoint {
  glm::dvec3 at{0.0};  // m, halfway between the two surfaces
  double gap = 0.0;    // m, between them along the normal; negative: overlap
};

// Where two pieces touch or may soon do.
struct PieceMeeting {
  static constexpr int kMost = 8;
  glm::dvec3 normal{0.0};  // unit, from the first to the second
  std::array<MeetingPoint, kMost> point;
  int count = 0;
};

// Finds the points at which the gap is at most `range`; the closest is among them. None: the pieces are farther apart.
PieceMeeting meet(const PosedPiece& first, const PosedPiece& second, double range);

}  // namespace trocar
