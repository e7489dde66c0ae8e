// Makes the region that the closing blades of scissors have swept: the sector between them when they were open widest,
// in the plane in which they turn, with a margin.
// Units: metres, degrees, world.   Tested in tests/sim/blade_cut_test.cpp
#pragma once

#include "deform/cut/slit.hpp"
#include "sim/session/instruments.hpp"

namespace trocar {

BladeCut blade_cut(const Instrument& instrument);

}  // namespace trocar
