// Makes the triangles of a thin sheet of tissue or cloth: a patch between three or four corners, in rows of nearly
// equal distance. A patch of four corners is the bilinear surface through them, so corners out of one plane give a
// twisted fold. Units: metres.   Tested in tests/mesh/mesh_report_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct SheetShape {
  std::vector<glm::dvec3> corners;  // m  three or four, counter-clockwise seen from the front; empty: from a mesh file
  double spacing = 5e-3;            // m  between nodes, > 0
  double thickness = 3e-4;          // m  > 0
  double bending = 1.0;             // 1  > 0, bending stiffness over that of a plate of this thickness; woven: below 1
  double strength = 5e5;            // Pa     > 0, nominal stress at which it tears
  double toughness = 1e3;           // J/m^2  > 0, of a tear
  double cut_toughness = 3e2;       // J/m^2  >= 0, of a cut by a blade
};

// A sheet has at most this many nodes: its step costs more than in proportion to them.
constexpr std::size_t kMostSheetNodes = 1200;

// A surface of triangles with a border. Winding: counter-clockwise from the front.
struct SheetPatch {
  std::vector<glm::dvec3> points;                       // [node] m
  std::vector<std::array<std::uint32_t, 3>> triangles;  // nodes
};

// Returns one sentence about why there is no such patch, or nothing: not three or four corners, corners that coincide
// or lie on one line, or more than kMostSheetNodes nodes.
std::string sheet_fault(const SheetShape& sheet);

// Returns the patch. Valid for a shape with corners and without fault.
SheetPatch sheet_patch(const SheetShape& sheet);

// Returns the patch of a surface from a file; vertices at one position are one node, and vertices without faces are
// left out.
SheetPatch sheet_patch(const TriangleMesh& surface);

}  // namespace trocar
