// The plots of the bench, as SVG: a few lines over linear axes, and cost against size over logarithmic ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trocar::bench {

// Lines over linear axes. Each has its own colour, dash and marker, and the legend names it.

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

// Plots cost against size: both axes are logarithmic, and each method is a line with its name at the end.

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
