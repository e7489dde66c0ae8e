// Texts in HTML and addresses, and the parts that all our plots in SVG share.   Tested in tests/app/report_test.cpp
#pragma once

#include <string>
#include <string_view>

namespace trocar {

// Returns the text as HTML and XML: & < > " ' written as references.
std::string markup_escaped(std::string_view text);
// Returns the text as a value of an address: every character but letters, digits, - _ and . as %XX.
std::string url_encoded(std::string_view text);

// The beginning of a plot in SVG, up to its subtitle. Lines of class "grid" have its colour.
struct PlotHead {
  double width, height;  // pixels
  double left = 16.0;    // of the titles
  int font_size = 13;
  std::string_view title = {}, subtitle = {};
  std::string_view grid = "#ddd";
};
std::string svg_opening(const PlotHead& head);

// An axis from value `low` at pixel `from` to value `high` at pixel `to`.
struct PlotAxis {
  double low, high, from, to;
  double operator()(double value) const { return from + (to - from) * (value - low) / (high - low); }
};
// Logarithmic; low > 0, and lower values are drawn there.
struct LogAxis {
  double low, high, from, to;
  double operator()(double value) const;
};

// Returns 1, 2 or 5 times a power of ten: the largest up to `wanted`.
double round_step(double wanted);

}  // namespace trocar
