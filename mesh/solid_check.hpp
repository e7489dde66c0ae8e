// Is this surface the boundary of a solid? Tissue can only fill a closed one. `trocar mesh check`, `trocar mesh
// lattice` and every scene decide by this one judgement and print its counts. Vertices at exactly the same position
// count as one (weld.hpp), so that seams of a file are no holes; faces that then name a vertex twice are left out.
// Units: metres, square and cubic metres.   Tested in tests/mesh/solid_check_test.cpp
#pragma once

#include <string>

#include "geometry/mesh_view.hpp"
#include "mesh/half_edge.hpp"

namespace trocar {

struct SolidCheck {
  std::size_t open_edges = 0;          // with one face: the rims of holes
  std::size_t non_manifold_edges = 0;  // with three faces or more
  std::size_t unbalanced_edges = 0;    // of those, with more faces running one way than the other: they bound no solid
  std::size_t inconsistent_edges = 0;  // with two faces that disagree about the outside
  double volume = 0.0;                 // m^3  signed; of an open surface a rough value
  std::string fault;                   // one sentence: what is wrong, where, what to do; empty: tissue can fill it
};

// Any faces whose vertices exist.
SolidCheck check_solid(const MeshView& organ);
// The same with vertices joined already: `adjacency` is that of `welded`.
SolidCheck check_solid(const MeshView& welded, const HalfEdges& adjacency);

// Volume enclosed by `organ`, m^3. Error: InputError, one sentence: SolidCheck::fault, a vertex number out of range, or
// a coordinate that is not finite.
double closed_volume(const MeshView& organ);

}  // namespace trocar
