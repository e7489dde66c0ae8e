// Writes the results of the broad-phase bench as text, CSV and a plot.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace trocar::bench {

// One method at one number of objects and one speed; the numbers are means or medians per frame.
struct BroadPhaseRow {
  std::string method;
  std::size_t objects = 0;
  double speed = 0.0;  // box sides per frame
  double pairs = 0.0;
  double us = 0.0;            // median
  double swaps = 0.0;         // of ends in the sorted lists
  double status_swaps = 0.0;  // those of a low end with a high end
  double afresh = 0.0;        // share of frames with a full sort
};

std::string broad_phase_heading(double speed);
// Returns one line with all methods at one number of objects.
std::string broad_phase_line(std::span<const BroadPhaseRow> rows);
// Describes the growth of time and swaps with the number of objects: exponents over the larger numbers, swaps per
// object and pair.
std::string broad_phase_growth(std::span<const BroadPhaseRow> rows, double speed);
std::string broad_phase_csv(std::span<const BroadPhaseRow> rows);
std::string broad_phase_plot(std::span<const BroadPhaseRow> rows, const std::string& machine);

}  // namespace trocar::bench
