// Makes the backend `bsp`, which finds the faces that a convex tool volume touches by a binary space partition. At each
// node the volume's corners show which sides it overlaps; if both, the faces in the plane are tested. A BSP cannot be
// refitted, so update() rebuilds it: 55 ms for a liver of 31,000 faces on a Xeon. A mesh at rest needs no update().
// Units: metres. Checked against the reference in tests/study/tree_touch_test.cpp
#pragma once

#include <memory>

#include "geometry/touch.hpp"

namespace trocar {

std::unique_ptr<TouchQuery> make_bsp_query();

}  // namespace trocar
