// The steps of repair(), each on a mesh with any faults that earlier steps have not removed. Units: metres.
// Tested through repair() in tests/mesh/repair_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Lets faces use the first of the vertices at one position. Returns the number of vertices that lost all their faces.
std::size_t join_seams(TriangleMesh& mesh);
// Joins vertices of open edges that are at most `distance` apart and share no edge, the closest first. `moved`: the
// largest distance of a joined vertex. Returns the number of vertices joined to another.
std::size_t join_open_edges(double distance, TriangleMesh& mesh, double& moved);
// Drops faces that use a vertex twice and faces with the corners of an earlier one; returns their number.
std::size_t drop_repeated(TriangleMesh& mesh);
// Drops connected pieces of fewer than four faces; returns the number of faces.
std::size_t drop_loose(TriangleMesh& mesh);
// Turns faces until the two faces of every edge agree; the first face of a piece keeps its orientation. Every edge has
// at most two faces. Returns the number of turned faces. Throws InputError when a piece has only one side.
std::size_t orient_alike(TriangleMesh& mesh);
// Turns every piece whose volume is negative; returns the number of turned faces.
std::size_t orient_outward(TriangleMesh& mesh);
// Removes faces without area: joins the ends of a very short side, or exchanges the longest side with that of the
// neighbouring face. `moved`: at least the largest distance between joined ends. One pass; returns the number of
// removed faces, 0 when none can be removed.
std::size_t replace_flat_faces(TriangleMesh& mesh, double& moved);
// Returns the number of vertices without faces.
std::size_t count_unused(const TriangleMesh& mesh);
// Drops vertices without faces.
void drop_unused(TriangleMesh& mesh);

// A boundary that visits no vertex twice, in the order in which faces that close it run along it.
struct HoleBoundary {
  std::vector<std::uint32_t> corners;  // vertices
  double length = 0.0;                 // m
  glm::dvec3 middle{0.0};              // m
};
std::vector<HoleBoundary> hole_boundaries(const TriangleMesh& mesh);
// Appends faces that close the hole (hole_fill.hpp); false when there are none without an edge of three faces.
bool close_hole(const HoleBoundary& hole, TriangleMesh& mesh);

}  // namespace trocar
