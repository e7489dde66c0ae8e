#include "app/commands/tissue_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

// The plot: its frame in pixels, and the values at its right and upper end.
constexpr double kLeft = 60.0, kRight = 560.0, kTop = 70.0, kBottom = 350.0;
struct Scale {
  double across, up;
  double x(double value) const { return kLeft + (kRight - kLeft) * value / across; }
  double y(double value) const { return kBottom - (kBottom - kTop) * value / up; }
};

// Returns a round distance of 4 to 10 marks up to `most`: 1, 2 or 5 times a power of ten.
double round_step(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most / 4.0))), times = most / 4.0 / power;
  return power * (times >= 5.0 ? 5.0 : times >= 2.0 ? 2.0 : 1.0);
}

std::string marks(const Scale& scale) {
  std::string svg;
  for (double v = 0.0, step = round_step(scale.across); v <= scale.across * 1.0001; v += step)
    svg += fmt::format(
        "<path d=\"M{0:.1f},{1} v5\" stroke=\"#888\"/><text x=\"{0:.1f}\" y=\"{2}\" "
        "text-anchor=\"middle\">{3:.3g}</text>\n",
        scale.x(v), kBottom, kBottom + 20.0, v);
  for (double v = 0.0, step = round_step(scale.up); v <= scale.up * 1.0001; v += step)
    svg += fmt::format(
        "<path d=\"M{0},{1:.1f} h{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.3g}</text>\n",
        kLeft, scale.y(v), kRight - kLeft, kLeft - 6.0, scale.y(v) + 4.0, v);
  return svg;
}

std::string polyline(const std::vector<CurveRow>& rows, double CurveRow::*value, const Scale& scale,
                     const char* style) {
  std::string points = fmt::format("{:.1f},{:.1f}", scale.x(0.0), scale.y(0.0));
  for (const CurveRow& row : rows) points += fmt::format(" {:.1f},{:.1f}", scale.x(row.at), scale.y(row.*value));
  return fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, style);
}

// Circles: the forces of the step. Line: the reference.
std::string legend(bool reference) {
  std::string svg =
      "<circle cx=\"72\" cy=\"50\" r=\"4\" fill=\"#0072b2\"/><text x=\"84\" y=\"54\">real-time step</text>";
  if (reference)
    svg +=
        "<path d=\"M200,50 h24\" stroke=\"#e69f00\" stroke-width=\"2\"/><text x=\"232\" y=\"54\">implicit "
        "reference</text>";
  return svg + "\n";
}

}  // namespace

std::string curve_svg(const std::string& title, const CurveAxes& axes, const std::vector<CurveRow>& rows,
                      bool reference) {
  Scale scale{1e-12, 1e-12};
  for (const CurveRow& row : rows) {
    scale.across = std::max(scale.across, row.at);
    scale.up = std::max({scale.up, row.step, reference ? row.reference : 0.0});
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 400\" width=\"600\" height=\"400\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"16\" y=\"24\" font-size=\"16\">Material test: {}</text>\n",
      title);
  svg += legend(reference) + marks(scale);
  svg += fmt::format(
      "<text x=\"{}\" y=\"390\" text-anchor=\"middle\">{}</text>\n"
      "<text x=\"{}\" y=\"54\" text-anchor=\"end\">{}</text>\n",
      0.5 * (kLeft + kRight), axes.across_label, kRight, axes.up_label);
  if (reference) svg += polyline(rows, &CurveRow::reference, scale, "stroke=\"#e69f00\" stroke-width=\"2\"");
  for (const CurveRow& row : rows)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#0072b2\"/>\n", scale.x(row.at),
                       scale.y(row.step));
  if (!reference) svg += polyline(rows, &CurveRow::step, scale, "stroke=\"#0072b2\" stroke-width=\"2\"");
  return svg + "</svg>\n";
}

}  // namespace trocar
