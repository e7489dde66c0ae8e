// Plots cost against size: both axes are logarithmic, and each method is a line with its name at the end.
#pragma once

#include <string>
#include <vector>

namespace trocar::bench {

struct PlotLine {
  std::string name;
  bool peer = false;                              // drawn thin and grey
  std::vector<std::pair<double, double>> points;  // size, microseconds; ascending size
};

struct PlotText {
  std::string title, subtitle;
  std::string size = "faces";  // what the size is a number of
};

// Returns a whole SVG file.
std::string size_plot(const PlotText& text, const std::vector<PlotLine>& lines);

}  // namespace trocar::bench
