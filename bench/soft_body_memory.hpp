// Measures the memory of a tissue: the capacity of its arrays, and the growth of the process while the tissue is made
// and stepped.
#pragma once

#include <cstddef>

#include "deform/solid/tissue.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::bench {

struct TissueMemory {
  std::size_t nodes = 0, springs = 0;
  std::size_t model = 0, lattice = 0, state = 0;     // bytes in arrays; `lattice` is part of `model`
  std::size_t resident_growth = 0, peak_growth = 0;  // bytes of the process: after a step, and the peak while building
};

// Makes the tissue and steps it once. Call it before anything else fills the heap.
TissueMemory measure_tissue_memory(const TriangleMesh& organ, const TissueParams& params);

}  // namespace trocar::bench
