// Reports how well a lattice represents its organ: its size, how many cells are full, how thick the organ is in cells,
// and the longest stable substep. Users read the report to choose a node spacing. Units: metres, kilograms,
// seconds.   Tested
// in tests/deform/lattice_report_test.cpp
#pragma once

#include <cstddef>

#include "deform/solid/tissue.hpp"

namespace trocar {

struct LatticeReport {
  std::size_t cells = 0, nodes = 0, springs = 0;
  double whole = 0.0;            // 1  fraction of cells that are full
  double volume = 0.0;           // m^3  of all cells, weighted by fullness
  double organ_volume = 0.0;     // m^3  volume that gives the mass
  double mass = 0.0;             // kg
  std::size_t pieces = 0;        // components without a spring between them
  double cells_across = 0.0;     // 1  median over runs of cells along the three axes: 5 bend within 5 % of beam theory
  double worst_embedding = 0.0;  // m  largest distance between a rest vertex and its weighted sum of nodes
  float longest_substep = 0.f;   // s
  int substeps_per_frame = 0;    // at 60 Hz
};

LatticeReport lattice_report(const TissueModel& model, std::span<const glm::vec3> rest_vertices);

}  // namespace trocar
