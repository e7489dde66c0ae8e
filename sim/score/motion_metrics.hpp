// The list of motion metrics of an instrument, with their labels, units and notes: lengths, speeds, smoothness. A score
// of a recording and one of a trajectory have the same list. Definitions: docs/metrics.md.
// Units: as stated with each metric.   Tested in tests/sim/score_trajectory_test.cpp
#pragma once

#include <span>
#include <vector>

#include "sim/score/attempt.hpp"
#include "sim/score/track.hpp"

namespace trocar {

// `stops`: s, ascending, times at which the straight-line path changes direction (path_inefficiency).
std::vector<Metric> motion_metrics(const Track& track, std::span<const double> stops);

}  // namespace trocar
