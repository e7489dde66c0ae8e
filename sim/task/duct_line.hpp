// Returns points of the line through a duct or vessel at rest.   Units: metres.
// Tested in tests/sim/duct_line_test.cpp
#pragma once

#include <algorithm>
#include <glm/glm.hpp>
#include <span>

namespace trocar {

// Returns the point at this distance along a line, or the end of the line. `line`: at least two points.
inline glm::dvec3 point_on_line(std::span<const glm::dvec3> line, double along) {
  double before = 0.0;
  for (std::size_t k = 1; k < line.size(); ++k) {
    const double length = glm::distance(line[k - 1], line[k]);
    if (before + length >= along || k + 1 == line.size())
      return glm::mix(line[k - 1], line[k], std::clamp((along - before) / length, 0.0, 1.0));
    before += length;
  }
  return line.front();
}

}  // namespace trocar
