// Computes the distance between two instruments, whose shafts are capsules from the trocar to the tip.
// Units: metres, world frame.   Tested against sampling in tests/sim/encounters_test.cpp
#pragma once

#include <cstdint>

#include "geometry/tool_volume.hpp"

namespace trocar {

struct InstrumentClash {
  std::uint32_t first, second;  // instruments, first < second
  double distance;              // m   between their surfaces; below 0: they collide, with this penetration
  glm::dvec3 point;             // m   halfway between the surfaces where they are closest
};

// Computes the distance in closed form, from the closest points of the two axes.
InstrumentClash clash_of(std::uint32_t first, const ToolPose& a, std::uint32_t second, const ToolPose& b);

}  // namespace trocar
