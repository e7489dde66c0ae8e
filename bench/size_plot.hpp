// Cost against faces as a picture: both axes logarithmic, a line per way, named at its end.
#pragma once

#include <string>
#include <vector>

namespace trocar::bench {

struct PlotLine {
  std::string name;
  bool peer = false;                              // drawn thin and grey
  std::vector<std::pair<double, double>> points;  // faces, microseconds; ascending faces
};

struct PlotText {
  std::string title, subtitle;
};

// A whole SVG file.
std::string size_plot(const PlotText& text, const std::vector<PlotLine>& lines);

}  // namespace trocar::bench
