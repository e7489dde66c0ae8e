// Makes the volumes that cover a moving part: boxes around the part in intervals of the step, which together contain
// every point that the part passes. A box is a tool volume like that of a shaft: half-spaces and an orthographic
// camera. Units: metres; time 1 = one step.   Checked by sampling in tests/cpu_collision/part_volume_test.cpp
#pragma once

#include "geometry/part.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// A box exceeds the part's path by at most this much because the path is curved, unless most_pieces is reached.
struct PartCoverParams {
  double largest_sagitta = 2e-4;  // m, > 0
  int most_pieces = 4;            // 1, >= 1
};

// Returns the number of intervals into which the step of a part is divided.
int volume_count(const PartShape& shape, const InstrumentMotion& motion, const PartCoverParams& params = {});

// Returns the volume of a part in the interval `from` .. `to`. `motion` and `shape` must outlive the volume.
ToolVolume part_volume(const PartShape& shape, const InstrumentMotion& motion, double from, double to);

// Box with sides along the world's axes around the part during the whole step.
struct PartBounds {
  glm::dvec3 low, high;  // m
};
PartBounds part_bounds(const PartShape& shape, const InstrumentMotion& motion);

}  // namespace trocar
