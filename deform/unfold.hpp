// Cells pressed flat or turned inside out: springs know lengths only, and are as content in a mirror image. Each corner
// of a cell spans a volume with its three edges. Below half its rest volume it pushes back like a volume spring; below
// a tenth it is opened at once. Sound tissue under small strain never meets either. Units: metres, kilograms.   Tested
// in tests/deform/unfold_test.cpp
#pragma once

#include <span>

#include "deform/tissue.hpp"

namespace trocar {

constexpr float kSqueezed = 0.5f;  // share of its rest volume below which a corner pushes back
constexpr float kFlat = 0.1f;      // share below which it does not yield at all

// Bulk stiffness of the push, in Young's moduli: about that of tissue with Poisson's ratio 0.45.
constexpr float kSqueezeStiffness = 3.f;

struct SolidNodes {
  float *x, *y, *z;           // [node] m
  const float* inverse_mass;  // [node] 1/kg
};

// flatness[cell]: smallest of its eight corner volumes, over that at rest; negative: turned inside out.
void measure_flatness(const TissueModel& model, const SolidNodes& nodes, std::span<float> flatness);

// Pushes open each corner of one cell in turn, over a substep of dt seconds.
void unfold_cell(const TissueModel& model, std::size_t cell, const SolidNodes& nodes, float dt);

// Signed volume of the box spanned by edges x, y, z and how it grows as each edge's end moves: the rows of the
// cofactor.
struct CornerVolume {
  float volume;                         // m^3
  glm::vec3 along_x, along_y, along_z;  // m^2
};
CornerVolume corner_volume(const glm::vec3& x, const glm::vec3& y, const glm::vec3& z);

}  // namespace trocar
