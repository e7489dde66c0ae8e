// Tells whether hot metal is inside tissue. Units: metres.   Tested in tests/sim/cutting_test.cpp
#pragma once

#include "deform/sculpt.hpp"

namespace trocar {

// Returns whether the metal contains the centre of a tissue voxel: it is inside the tissue, perhaps far from any face.
// Uses the sculpture's scratch buffers.
bool in_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
               std::span<const HotSegment> metal);

}  // namespace trocar
