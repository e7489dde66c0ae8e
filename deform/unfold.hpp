// Cells pressed flat or turned inside out: springs know lengths only, and are as content in a mirror image. Each corner
// of a cell spans a volume with its three edges; one that falls below a share of its rest volume is pushed open again.
// Units: metres, kilograms.   Tested in tests/deform/unfold_test.cpp
#pragma once

#include <span>

#include "deform/tissue.hpp"

namespace trocar {

// Share of its rest volume below which a corner is pushed open: far below what pressing does to sound tissue.
constexpr float kFlattestCorner = 0.15f;

struct SolidNodes {
  float *x, *y, *z;           // [node] m
  const float* inverse_mass;  // [node] 1/kg
};

// flatness[cell]: smallest of its eight corner volumes, over that at rest; negative: turned inside out.
void measure_flatness(const TissueModel& model, const SolidNodes& nodes, std::span<float> flatness);

// Moves the nodes of one cell so that each corner in turn has the least volume allowed.
void unfold_cell(const TissueModel& model, std::size_t cell, const SolidNodes& nodes);

// Signed volume of the box spanned by edges x, y, z and how it grows as each edge's end moves: the rows of the
// cofactor.
struct CornerVolume {
  float volume;                         // m^3
  glm::vec3 along_x, along_y, along_z;  // m^2
};
CornerVolume corner_volume(const glm::vec3& x, const glm::vec3& y, const glm::vec3& z);

}  // namespace trocar
