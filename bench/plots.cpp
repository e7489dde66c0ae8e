#include "bench/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "sim/support/markup.hpp"

namespace trocar::bench {
namespace {

constexpr double kWidth = 900.0, kHeight = 520.0, kLeft = 84.0, kRight = 30.0, kTop = 112.0, kBottom = 64.0;

// Distinguishable with every kind of colour vision. Source: Okabe, Ito, "Color universal design", 2008.
constexpr std::array<std::string_view, 6> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000"};
constexpr std::array<std::string_view, 6> kDashes = {"none", "8 4", "2 3", "10 3 2 3", "none", "5 5"};

struct Axis : PlotAxis {
  double step;  // of its tick labels
};

// Makes an axis from a round number to a round number in four to ten round steps.
Axis axis_over(double low, double high, double from, double to) {
  if (!(high > low)) high = low + 1.0;
  const double rough = (high - low) / 6.0, power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0})
    if (rough > 0.75 * step) step = factor * power;
  return {{std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, from, to}, step};
}

std::string marker(Mark mark, double x, double y, std::string_view colour) {
  switch (mark) {
    case Mark::None:
      return "";
    case Mark::Dot:
      return fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='{}'/>\n", x, y, colour);
    case Mark::Square:
      return fmt::format("<rect x='{:.1f}' y='{:.1f}' width='8' height='8' fill='{}'/>\n", x - 4.0, y - 4.0, colour);
    case Mark::Ring:
      return fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4.5' fill='white' stroke='{}' stroke-width='2'/>\n", x, y,
                         colour);
  }
  return "";
}

std::string stroke(std::size_t number) {
  return fmt::format("fill='none' stroke='{}' stroke-width='2.2' stroke-dasharray='{}' stroke-linejoin='round'",
                     kColours[number % kColours.size()], kDashes[number % kDashes.size()]);
}

std::string grid(const Axis& x, const Axis& y, const LinePlot& plot) {
  std::string svg;
  if (plot.band_high > plot.band_low)
    svg += fmt::format("<rect x='{}' y='{:.1f}' width='{}' height='{:.1f}' fill='#eef1f3'/>\n", kLeft,
                       y(plot.band_high), kWidth - kLeft - kRight, y(plot.band_low) - y(plot.band_high));
  const auto numbers = [](const Axis& axis) {
    return std::lround(std::floor((axis.high - axis.low) / axis.step + 1e-6));
  };
  for (long i = 0; i <= numbers(x); ++i) {
    const double value = x.low + static_cast<double>(i) * x.step;
    svg += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='grid'/>\n", x(value), kTop,
                       kHeight - kBottom);
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{:.4g}</text>\n", x(value), kHeight - kBottom + 20,
                       value);
  }
  for (long i = 0; i <= numbers(y); ++i) {
    const double value = y.low + static_cast<double>(i) * y.step;
    svg += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' class='grid'/>\n", y(value), kLeft,
                       kWidth - kRight);
    svg += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{:.4g}</text>\n", kLeft - 8, y(value) + 4,
                       std::abs(value) < 1e-9 ? 0.0 : value);
  }
  return svg;
}

// Returns the legend in a row above the plot, in two rows when it is long.
std::string legend(const LinePlot& plot) {
  std::string svg;
  double x = kLeft, y = 72.0;
  const auto next_x = [&](std::string_view name) {
    const double width = 44.0 + 7.6 * static_cast<double>(name.size());
    if (x + width > kWidth - 10.0) x = kLeft, y += 22.0;
    x += width;
    return x - width;
  };
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& s = plot.series[i];
    const double at = next_x(s.name);
    if (s.line) svg += fmt::format("<path d='M{:.1f} {:.1f} h28' {}/>\n", at, y - 4.0, stroke(i));
    svg += marker(s.mark, at + 14.0, y - 4.0, kColours[i % kColours.size()]);
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}'>{}</text>\n", at + 34.0, y, markup_escaped(s.name));
  }
  if (!plot.band_name.empty()) {
    const double at = next_x(plot.band_name);
    svg += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='28' height='12' fill='#e3e8eb'/>\n", at, y - 10.0);
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}'>{}</text>\n", at + 34.0, y, markup_escaped(plot.band_name));
  }
  return svg;
}

std::string drawn(const Series& series, std::size_t number, const Axis& x, const Axis& y) {
  std::string path, marks;
  for (const auto& [px, py] : series.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x(px), y(py));
    marks += marker(series.mark, x(px), y(py), kColours[number % kColours.size()]);
  }
  return (series.line ? fmt::format("<path d='{}' {}/>\n", path, stroke(number)) : "") + marks;
}

}  // namespace

std::string line_plot_svg(const LinePlot& plot) {
  double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
  for (const Series& series : plot.series)
    for (const auto& [px, py] : series.points) {
      low_x = std::min(low_x, px), high_x = std::max(high_x, px);
      low_y = std::min(low_y, py), high_y = std::max(high_y, py);
    }
  if (!(high_x >= low_x)) return "";
  if (plot.y_high > plot.y_low) low_y = plot.y_low, high_y = plot.y_high;
  Axis x = axis_over(std::min(low_x, 0.0), high_x, kLeft, kWidth - kRight);
  x.high = std::ceil(5.0 * high_x / x.step - 1e-9) * x.step / 5.0;
  const Axis y = axis_over(low_y, high_y, kHeight - kBottom, kTop);
  std::string svg = svg_opening({.width = kWidth,
                                 .height = kHeight,
                                 .left = kLeft,
                                 .title = plot.title,
                                 .subtitle = plot.subtitle,
                                 .grid = "#dde1e4"});
  svg += grid(x, y, plot) + legend(plot);
  svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", 0.5 * (kLeft + kWidth - kRight),
                     kHeight - 18, markup_escaped(plot.x_name));
  svg += fmt::format("<text transform='translate(24 {:.1f}) rotate(-90)' text-anchor='middle'>{}</text>\n",
                     0.5 * (kTop + kHeight - kBottom), markup_escaped(plot.y_name));
  for (std::size_t i = 0; i < plot.series.size(); ++i) svg += drawn(plot.series[i], i, x, y);
  return svg + "</svg>\n";
}

std::string line_plot_csv(const LinePlot& plot) {
  std::string csv = fmt::format("series,{},{}\n", plot.x_name, plot.y_name);
  for (const Series& series : plot.series)
    for (const auto& [x, y] : series.points) csv += fmt::format("{},{:.6g},{:.6g}\n", series.name, x, y);
  return csv;
}

namespace {

constexpr double kSizeHeight = 620.0, kSizeLeft = 78.0, kSizeRight = 190.0, kSizeTop = 74.0, kSizeBottom = 58.0;
constexpr double kLabelHeight = 15.0;
constexpr std::array<std::string_view, 10> kSizeColours = {"#1b6ca8", "#c8553d", "#2f8f5b", "#8a5aa8", "#b8860b",
                                                           "#2a9d9d", "#b03a72", "#6b7a1e", "#20306e", "#7a4a2b"};
constexpr std::string_view kPeerColour = "#9aa0a6";

// Spans whole decades.
LogAxis spanning(double low, double high, double from, double to) {
  constexpr double kSlack = 0.01;  // decades that may lie outside the axis
  LogAxis axis{std::pow(10.0, std::floor(std::log10(low))), std::pow(10.0, std::ceil(std::log10(high) - kSlack)), from,
               to};
  if (axis.high <= axis.low) axis.high = 10.0 * axis.low;
  return axis;
}

std::string faces_word(double faces) {
  if (faces >= 1e6) return fmt::format("{:g} M", faces / 1e6);
  return faces >= 1e3 ? fmt::format("{:g} k", faces / 1e3) : fmt::format("{:g}", faces);
}

std::string time_word(double microseconds) {
  if (microseconds >= 1e6) return fmt::format("{:g} s", microseconds / 1e6);
  return microseconds >= 1e3 ? fmt::format("{:g} ms", microseconds / 1e3) : fmt::format("{:g} us", microseconds);
}

std::string grid(const LogAxis& x, const LogAxis& y) {
  std::string svg;
  for (double decade = x.low; decade <= x.high * 1.001; decade *= 10.0) {
    svg += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='grid'/>\n", x(decade), kSizeTop,
                       kSizeHeight - kSizeBottom);
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", x(decade),
                       kSizeHeight - kSizeBottom + 20, faces_word(decade));
  }
  for (double decade = y.low; decade <= y.high * 1.001; decade *= 10.0) {
    svg += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' class='grid'/>\n", y(decade), kSizeLeft,
                       kWidth - kSizeRight);
    svg += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n", kSizeLeft - 8, y(decade) + 4,
                       time_word(decade));
  }
  return svg;
}

struct Label {
  double wanted, y;
  std::string_view text, colour;
  bool peer;
};

// Moves labels apart where they would overlap, keeping their order, and back up where they would leave the plot.
void spread(std::vector<Label>& labels) {
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.wanted < b.wanted; });
  double lowest = kSizeTop;
  for (Label& label : labels) {
    label.y = std::max(label.wanted, lowest);
    lowest = label.y + kLabelHeight;
  }
  double highest = kSizeHeight - kSizeBottom;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->y = std::min(label->y, highest);
    highest = label->y - kLabelHeight;
  }
}

std::string line_svg(const PlotLine& line, std::string_view colour, const LogAxis& x, const LogAxis& y) {
  std::string path, dots;
  for (const auto& [faces, microseconds] : line.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x(faces), y(microseconds));
    if (!line.peer)
      dots += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>\n", x(faces), y(microseconds), colour);
  }
  return fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='{}'/>\n", path, colour,
                     line.peer ? 1.2 : 2.4) +
         dots;
}

}  // namespace

std::string size_plot(const PlotText& text, const std::vector<PlotLine>& lines) {
  double least_x = std::numeric_limits<double>::max(), most_x = 0.0, least_y = least_x, most_y = 0.0;
  for (const PlotLine& line : lines) {
    for (const auto& [faces, microseconds] : line.points) {
      least_x = std::min(least_x, faces), most_x = std::max(most_x, faces);
      least_y = std::min(least_y, microseconds), most_y = std::max(most_y, microseconds);
    }
  }
  if (most_x <= 0.0) return "";
  const LogAxis x = spanning(least_x, most_x, kSizeLeft, kWidth - kSizeRight);
  const LogAxis y = spanning(least_y, most_y, kSizeHeight - kSizeBottom, kSizeTop);

  std::string svg = svg_opening({.width = kWidth,
                                 .height = kSizeHeight,
                                 .left = kSizeLeft,
                                 .font_size = 12,
                                 .title = text.title,
                                 .subtitle = text.subtitle,
                                 .grid = "#e3e6e8"});
  svg += grid(x, y);
  svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n",
                     0.5 * (kSizeLeft + kWidth - kSizeRight), kSizeHeight - 14, markup_escaped(text.size));
  std::vector<Label> labels;
  std::size_t own = 0;
  for (const PlotLine& line : lines) {
    if (line.points.empty()) continue;
    const std::string_view colour = line.peer ? kPeerColour : kSizeColours[own++ % kSizeColours.size()];
    svg += line_svg(line, colour, x, y);
    labels.push_back({y(line.points.back().second) + 4.0, 0.0, line.name, colour, line.peer});
  }
  spread(labels);
  for (const Label& label : labels)
    svg +=
        fmt::format("<text x='{}' y='{:.1f}' fill='{}' font-weight='{}'>{}</text>\n", kWidth - kSizeRight + 10, label.y,
                    label.peer ? "#666" : label.colour, label.peer ? "normal" : "bold", markup_escaped(label.text));
  return svg + "</svg>\n";
}

}  // namespace trocar::bench
