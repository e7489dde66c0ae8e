// Makes the cubic lattice that fills an organ: every cell that contains tissue or is touched by the surface, its
// volume fraction and its nodes. Volume fractions are those of the closed surface, exact to rounding; tissue that a
// surface encloses twice counts twice.
//
// Units: metres.   Tested in tests/deform/tissue_test.cpp
#pragma once

#include <algorithm>
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
  float volume_fraction;              // 1: fraction of the cell inside the organ, kEmptiestCell..1
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
std::vector<float> measure_volume_fractions(const MeshView& organ, const Lattice& grid);

// A triangle and an axis-aligned box, by 13 separating axes: 3 of the box, 1 of the triangle, 9 of pairs of edges.
// Source: Akenine-Moller, "Fast 3D triangle-box overlap testing", Journal of Graphics Tools 6, 2001.

// Tests against the closed box with half sides `half` around `centre`. A degenerate triangle is treated as a segment or
// point.
bool triangle_touches_box(const Triangle& triangle, const glm::dvec3& centre, const glm::dvec3& half);

// A deformed cell: maps (0..1)^3 to its eight corners by trilinear interpolation, and back by Newton's method.
// Coordinates in the cell have no unit. Tested in tests/deform/organ_contact_test.cpp

struct TrilinearCell {
  // x(s) = base + s.x c[0] + s.y c[1] + s.z c[2] + s.x s.y c[3] + s.y s.z c[4] + s.z s.x c[5] + s.x s.y s.z c[6]
  glm::vec3 base;
  std::array<glm::vec3, 7> c;  // m
};

// Makes the map from eight corners, ordered with x fastest, then y.
inline TrilinearCell trilinear_cell(const std::array<glm::vec3, 8>& p) {
  const glm::vec3 x = p[1] - p[0], y = p[2] - p[0], z = p[4] - p[0];
  const glm::vec3 xy = p[3] - p[2] - x, yz = p[6] - p[4] - y, zx = p[5] - p[1] - z;
  return {p[0], {x, y, z, xy, yz, zx, (p[7] - p[6]) - (p[5] - p[4]) - xy}};
}

// Returns the position relative to the base, so that no digits are lost far from the origin.
inline glm::vec3 offset_at(const TrilinearCell& m, const glm::vec3& s) {
  return s.x * (m.c[0] + s.y * (m.c[3] + s.z * m.c[6])) + s.y * (m.c[1] + s.z * m.c[4]) + s.z * (m.c[2] + s.x * m.c[5]);
}

// Returns the gradient with the columns dx / ds.x, dx / ds.y, dx / ds.z.
inline glm::mat3 gradient_at(const TrilinearCell& m, const glm::vec3& s) {
  return {m.c[0] + s.y * m.c[3] + s.z * m.c[5] + s.y * s.z * m.c[6],
          m.c[1] + s.z * m.c[4] + s.x * m.c[3] + s.z * s.x * m.c[6],
          m.c[2] + s.x * m.c[5] + s.y * m.c[4] + s.x * s.y * m.c[6]};
}

// Returns the weight of corner k at s.
inline float corner_weight(int k, const glm::vec3& s) {
  return (k & 1 ? s.x : 1.f - s.x) * (k & 2 ? s.y : 1.f - s.y) * (k & 4 ? s.z : 1.f - s.z);
}

// Where the volume over the rest volume is below this, the cell has no usable inverse.
constexpr float kFlattestInverse = 1e-3f;

// A point is rejected without iterating when the linear part of the map at the middle puts it this much farther outside
// than the limit.
constexpr float kBendReserve = 0.3f;

// Computes the inverse of the gradient `g`; false where the cell is flat or inside out. `size`: m, the cell's side at
// rest.
inline bool invert_gradient(const glm::mat3& g, float size, glm::mat3& inverse) {
  const glm::vec3 yz = glm::cross(g[1], g[2]), zx = glm::cross(g[2], g[0]), xy = glm::cross(g[0], g[1]);
  const float volume = glm::dot(g[0], yz);
  if (!(volume > kFlattestInverse * size * size * size)) return false;
  inverse = glm::transpose(glm::mat3(yz, zx, xy)) / volume;
  return true;
}

// A cell prepared for many points.
struct CellInverse {
  TrilinearCell map;
  glm::mat3 middle;  // 1/m, inverse of the gradient at the middle
  float size;        // m
  bool usable;
};

inline CellInverse cell_inverse(const std::array<glm::vec3, 8>& corners, float size) {
  CellInverse made{trilinear_cell(corners), glm::mat3(0.f), size, false};
  made.usable = invert_gradient(gradient_at(made.map, glm::vec3(0.5f)), size, made.middle);
  return made;
}

inline bool within(const glm::vec3& s, float beyond) {
  const glm::vec3 middle = glm::abs(s - 0.5f);
  return middle.x <= 0.5f + beyond && middle.y <= 0.5f + beyond && middle.z <= 0.5f + beyond;
}

// Computes the coordinates of `p` in the cell, if they lie within `beyond` of the cell's sides. Returns false when they
// do not, or when the cell is flat or inside out there or at its middle.
inline bool find_coordinates(const CellInverse& cell, const glm::vec3& p, float beyond, glm::vec3& s) {
  constexpr int kIterations = 12;
  constexpr float kClose = 1e-5f;  // of the side
  const glm::vec3 wanted = p - cell.map.base;
  s = 0.5f + cell.middle * (wanted - offset_at(cell.map, glm::vec3(0.5f)));
  if (!cell.usable || !within(s, beyond + kBendReserve)) return false;
  for (int i = 0; i < kIterations; ++i) {
    const glm::vec3 miss = wanted - offset_at(cell.map, s);
    glm::mat3 inverse;
    if (!invert_gradient(gradient_at(cell.map, s), cell.size, inverse)) return false;
    if (glm::dot(miss, miss) <= kClose * kClose * cell.size * cell.size) return within(s, beyond);
    s += inverse * miss;
    if (!within(s, beyond + 4.f)) return false;
  }
  return false;
}

}  // namespace trocar
