#include "bench/size_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace trocar::bench {
namespace {

constexpr double kWidth = 900.0, kHeight = 620.0, kLeft = 78.0, kRight = 190.0, kTop = 74.0, kBottom = 58.0;
constexpr double kLabelHeight = 15.0;
constexpr std::array<std::string_view, 10> kColours = {"#1b6ca8", "#c8553d", "#2f8f5b", "#8a5aa8", "#b8860b",
                                                       "#2a9d9d", "#b03a72", "#6b7a1e", "#20306e", "#7a4a2b"};
constexpr std::string_view kPeerColour = "#9aa0a6";

// A logarithmic axis between two pixels that spans whole decades.
struct LogAxis {
  double low = 1.0, high = 10.0, from = 0.0, to = 1.0;

  double operator()(double value) const {
    return from + (to - from) * (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  }
};

LogAxis spanning(double low, double high, double from, double to) {
  constexpr double kSlack = 0.01;  // decades that may lie outside the axis
  LogAxis axis{std::pow(10.0, std::floor(std::log10(low))), std::pow(10.0, std::ceil(std::log10(high) - kSlack)), from,
               to};
  if (axis.high <= axis.low) axis.high = 10.0 * axis.low;
  return axis;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
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
    svg += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='grid'/>\n", x(decade), kTop,
                       kHeight - kBottom);
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", x(decade), kHeight - kBottom + 20,
                       faces_word(decade));
  }
  for (double decade = y.low; decade <= y.high * 1.001; decade *= 10.0) {
    svg += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' class='grid'/>\n", y(decade), kLeft,
                       kWidth - kRight);
    svg += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n", kLeft - 8, y(decade) + 4,
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
  double lowest = kTop;
  for (Label& label : labels) {
    label.y = std::max(label.wanted, lowest);
    lowest = label.y + kLabelHeight;
  }
  double highest = kHeight - kBottom;
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
  const LogAxis x = spanning(least_x, most_x, kLeft, kWidth - kRight);
  const LogAxis y = spanning(least_y, most_y, kHeight - kBottom, kTop);

  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='DejaVu Sans, Helvetica, sans-serif' font-size='12' fill='#222'>\n"
      "<style>.grid {{ stroke: #e3e6e8; }}</style>\n<rect width='{0}' height='{1}' fill='white'/>\n"
      "<text x='{2}' y='28' font-size='18' font-weight='bold'>{3}</text>\n<text x='{2}' y='48' "
      "fill='#555'>{4}</text>\n",
      kWidth, kHeight, kLeft, escaped(text.title), escaped(text.subtitle));
  svg += grid(x, y);
  svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", 0.5 * (kLeft + kWidth - kRight),
                     kHeight - 14, escaped(text.size));
  std::vector<Label> labels;
  std::size_t own = 0;
  for (const PlotLine& line : lines) {
    if (line.points.empty()) continue;
    const std::string_view colour = line.peer ? kPeerColour : kColours[own++ % kColours.size()];
    svg += line_svg(line, colour, x, y);
    labels.push_back({y(line.points.back().second) + 4.0, 0.0, line.name, colour, line.peer});
  }
  spread(labels);
  for (const Label& label : labels)
    svg += fmt::format("<text x='{}' y='{:.1f}' fill='{}' font-weight='{}'>{}</text>\n", kWidth - kRight + 10, label.y,
                       label.peer ? "#666" : label.colour, label.peer ? "normal" : "bold", escaped(label.text));
  return svg + "</svg>\n";
}

}  // namespace trocar::bench
