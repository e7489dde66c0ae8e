// Draws the curve of a material test as SVG.   Tested in tests/app/tissue_command_test.cpp
#pragma once

#include <string>
#include <vector>

namespace trocar {

// One load of a test: its level, and the answers of the real-time step and of the reference.
struct CurveRow {
  double at, step, reference;
};

// The two columns of a curve in a table, and in a plot.
struct CurveAxes {
  const char *across, *up, *across_label, *up_label;
};

// Circles for the step; with `reference` the line is the reference's.
std::string curve_svg(const std::string& title, const CurveAxes& axes, const std::vector<CurveRow>& rows,
                      bool reference);

}  // namespace trocar
