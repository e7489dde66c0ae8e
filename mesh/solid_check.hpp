// Decides whether a surface bounds a solid, because tissue can fill only a closed surface. It is the first part of the
// verdict on a mesh file, MeshReport::fault, which `trocar mesh check`, `trocar mesh lattice` and every scene give;
// surfaces made otherwise (tubes, recordings) need only this part. Vertices at exactly the same position count
// as one (weld.hpp), so seams of a file are not holes; faces that then use a vertex twice are ignored.
// Units: metres, square and cubic metres.   Tested in tests/mesh/solid_check_test.cpp
#pragma once

#include <string>

#include "geometry/mesh_view.hpp"
#include "mesh/half_edge.hpp"

namespace trocar {

struct SolidCheck {
  std::size_t open_edges = 0;          // with one face: the boundaries of holes
  std::size_t non_manifold_edges = 0;  // with three faces or more
  std::size_t unbalanced_edges = 0;    // non-manifold, with unequal numbers of faces per direction: not a solid's edge
  std::size_t inconsistent_edges = 0;  // with two faces that disagree about the outside
  double volume = 0.0;                 // m^3  signed; approximate for an open surface
  std::string fault;                   // one sentence: what is wrong, where, what to do; empty: tissue can fill it
};

// Checks any faces with valid vertex indices.
SolidCheck check_solid(const MeshView& organ);
// Does the same with vertices already joined: `adjacency` is that of `welded`.
SolidCheck check_solid(const MeshView& welded, const HalfEdges& adjacency);

// Returns the volume enclosed by `organ`, m^3. Throws InputError with one sentence: SolidCheck::fault, or a vertex
// number out of range, or a coordinate that is not finite.
double closed_volume(const MeshView& organ);

}  // namespace trocar
