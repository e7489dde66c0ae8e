// Plots a few lines over linear axes. Each line has its own colour, dash and marker, and the legend names it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trocar::bench {

enum class Mark { None, Dot, Square, Ring };

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool line = true;
  Mark mark = Mark::None;
};

struct LinePlot {
  std::string title = {}, subtitle = {}, x_name = {}, y_name = {};  // axes with their units
  std::vector<Series> series = {};
  double y_low = 0.0, y_high = 0.0;        // equal: computed from the points
  double band_low = 0.0, band_high = 0.0;  // a grey band between them; equal: no band
  std::string band_name = {};
};

// Returns a whole SVG file.
std::string line_plot_svg(const LinePlot& plot);
// Returns a whole CSV file: series, x, y.
std::string line_plot_csv(const LinePlot& plot);

}  // namespace trocar::bench
