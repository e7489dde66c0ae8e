// Is this surface the boundary of a solid? Tissue can only fill a closed one.
// Units: metres, square and cubic metres.   Tested in tests/deform/lattice_test.cpp
#pragma once

#include "geometry/mesh_view.hpp"

namespace trocar {

// Volume enclosed by `organ`, m^3. Vertices at exactly the same place count as one, so unwelded files are judged
// fairly. Error: InputError, one sentence naming the fault and where it is: no face, a vertex number out of range, a
// coordinate that is not finite, a hole (edge and place), faces that disagree about the outside, or a surface that is
// inside out.
double closed_volume(const MeshView& organ);

}  // namespace trocar
