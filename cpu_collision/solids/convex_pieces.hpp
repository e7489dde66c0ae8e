// A concave surface as a hierarchy of convex pieces: the surface is cut by planes until the hull of each part lies
// close to it. Leaves are the pieces, inner nodes the hulls of their children; the union of the leaves holds every face
// of the surface, and of a closed surface all that is inside. Source: thesis 6.2 (concave objects as a hierarchy of
// convex pieces); planar cuts: Lien and Amato, "Approximate convex decomposition", 2006. We differ: the cut is the one
// that leaves the two hulls the least volume, and the error is measured on the hulls' faces. Open and dirty surfaces
// are taken as they are. Units: metres.   Cover and error of the shared instruments in
// tests/cpu_collision/solids_convex_pieces_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar::solids {

struct PieceParams {
  double largest_bulge = 3e-4;  // m    pieces that stand off the surface by more are cut; > 0
  int most_pieces = 16;         // 1    cutting ends here; 1 .. 256
};

struct PieceNode {
  static constexpr std::uint32_t kNone = 0xffffffffu;
  ConvexBody hull;
  std::uint32_t child[2] = {kNone, kNone};
  double bulge = 0.0;  // m    farthest that the hull's faces lie outside the surface, sampled; 0 inside it
  bool leaf() const { return child[0] == kNone; }
};

struct ConvexPieces {
  std::vector<PieceNode> nodes;  // [node] root first
  std::size_t pieces() const { return (nodes.size() + 1) / 2; }
  double bulge() const;  // m    largest of the leaves
};

// Load-time work: 0.1 to 10 s for a thousand faces. Error: InputError when the mesh has no face, a coordinate is not
// finite or a parameter is out of range.
ConvexPieces convex_pieces(const MeshView& mesh, const PieceParams& params = {});

// A part of a surface, with corners of its own.
struct CutMesh {
  std::vector<glm::vec3> positions;
  std::vector<glm::uvec3> faces;
  MeshView view() const { return {positions, faces}; }
};
// The part of the surface on the side where normal . x >= offset, triangles cut along the plane, new corners rounded to
// float. Both sides of one plane get the same new corners. For example an instrument's tip without its shaft.
CutMesh part_beyond(const MeshView& mesh, const glm::dvec3& normal, double offset);

}  // namespace trocar::solids
