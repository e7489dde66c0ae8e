// Splits an angle into a number of quarter turns and a remainder: the range reduction of sine and cosine, for every
// finite double. Sources and units: geometry/elementary.hpp.   Tested in tests/geometry/elementary_test.cpp
#pragma once

#include "geometry/double_pair.hpp"

namespace trocar::elementary {

inline constexpr DoublePair kQuarterTurn{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};  // rad

struct ReducedAngle {
  unsigned quarters = 0;  // modulo 4
  DoublePair rest;        // rad   -pi/4 .. pi/4
};
ReducedAngle reduce_angle(double x);

}  // namespace trocar::elementary
