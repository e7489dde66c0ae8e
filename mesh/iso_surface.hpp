// Makes the zero surface of a sampled field as raw triangles from the grid: closed and manifold, but uneven.
// Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#pragma once

#include "mesh/sampled_field.hpp"

namespace trocar {

struct RawSurface {
  std::vector<glm::dvec3> positions;  // [vertex] mm
  std::vector<glm::uvec3> faces;      // [face] counter-clockwise seen from outside
};

RawSurface iso_surface(const SampledField& field);

}  // namespace trocar
