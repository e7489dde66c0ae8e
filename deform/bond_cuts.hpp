// Cuts fibres of connective tissue with hot metal and with blades. A fibre of a layer stands for the patch of the layer
// around it, so blades cut it when they come within half the layer's thickness of it.
// Units: metres, world frame.   Tested in tests/deform/bonds_end_test.cpp
#pragma once

#include "deform/cut/sculpt.hpp"
#include "deform/cut/slit.hpp"
#include "deform/join/bonds.hpp"

namespace trocar {

// Breaks the intact fibres that pass within the radius of a segment, or through the region of the blades. A region that
// is not finite or without area cuts nothing.
void burn_fibres(std::span<const HotSegment> metal, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds);
void snip_fibres(const BladeCut& cut, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds);

}  // namespace trocar
