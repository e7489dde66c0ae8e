// Makes the cubic lattice that fills an organ: every cell that contains tissue or is touched by the surface, its
// fullness and its nodes. The fullness follows from the winding number along grid rows (lines along x). The crossings
// of the surface with a row are found by an edge test that gives the same answer for both faces at an edge, so rows
// through edges and vertices need no special case.
//
// Units: metres.   Tested in tests/deform/lattice_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Corner c of a cell at `at` is the node at `at` + (c & 1, c >> 1 & 1, c >> 2).
inline glm::ivec3 corner_offset(int corner) { return {corner & 1, corner >> 1 & 1, corner >> 2}; }

struct LatticeCell {
  glm::ivec3 at;                      // cell column, row, layer
  float fullness;                     // 1: fraction of the cell inside the organ, kEmptiestCell..1
  std::array<std::uint32_t, 8> node;  // by corner
  bool divided = false;               // a slit separates its corners (slit.hpp)
};

struct Lattice {
  glm::dvec3 origin{0.0};             // m, corner of cell (0, 0, 0)
  double spacing = 0.0;               // m
  glm::ivec3 size{0};                 // cells along x, y, z
  std::vector<LatticeCell> cells;     // [cell] by layer, row, column
  std::vector<glm::ivec3> node_at;    // [node] by layer, row, column; neighbours along x have consecutive numbers
  std::vector<std::int32_t> cell_of;  // [size.x * size.y * size.z] index of the cell, -1 where there is none

  glm::vec3 position(std::uint32_t node) const { return glm::vec3(origin + spacing * glm::dvec3(node_at[node])); }
  // Column, row and layer of the cell that contains `p` or is nearest to it.
  glm::ivec3 column_of(const glm::dvec3& p) const {
    return glm::clamp(glm::ivec3(glm::floor((p - origin) / spacing)), glm::ivec3(0), size - 1);
  }
  std::size_t flat(const glm::ivec3& at) const {
    return (static_cast<std::size_t>(at.z) * size.y + at.y) * size.x + at.x;
  }
};

// A cell that the surface only grazes keeps this fraction of mass and stiffness, so that each of its nodes has some. A
// larger value would stiffen the organ's skin: a bar at 45 degrees to the lattice, three cells thick, is 17 % too stiff
// at 0.3, 5 % at 0.05 (tests/deform/elasticity_test.cpp).
constexpr float kEmptiestCell = 0.05f;

// Makes the lattice. `organ` must be closed (closed_volume). Throws InputError when the spacing is larger than the
// organ, or so small that the lattice would not fit in memory.
Lattice make_lattice(const MeshView& organ, double spacing);
// Returns the sentence with which make_lattice() refuses the spacing, or an empty text.
std::string lattice_fault(const MeshView& organ, double spacing);

// Returns the fraction of each grid cell that lies inside `organ`. [size.x * size.y * size.z]
std::vector<float> measure_fullness(const MeshView& organ, const Lattice& grid);

}  // namespace trocar
