#include "bench/broad_phase_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/size_plot.hpp"

namespace trocar::bench {
namespace {

constexpr const char* kMethods[] = {"sweep and prune", "sweep, status table", "uniform grid", "cached planes",
                                    "brute force"};
constexpr std::size_t kLarge = 1000;  // objects from which growth is reported

using Points = std::vector<std::pair<double, double>>;

// Returns the exponent of y over x, by least squares of log y over log x.
double exponent(const Points& points) {
  double sum_x = 0.0, sum_y = 0.0, sum_xx = 0.0, sum_xy = 0.0, count = 0.0;
  for (const auto& [x, y] : points) {
    if (y <= 0.0) continue;
    const double u = std::log(x), v = std::log(y);
    sum_x += u, sum_y += v, sum_xx += u * u, sum_xy += u * v, count += 1.0;
  }
  const double spread = count * sum_xx - sum_x * sum_x;
  return count > 1.0 && spread > 0.0 ? (count * sum_xy - sum_x * sum_y) / spread : 0.0;
}

template <typename Value>
Points points_of(std::span<const BroadPhaseRow> rows, const std::string& method, double speed, std::size_t from,
                 Value value) {
  Points points;
  for (const BroadPhaseRow& row : rows)
    if (row.method == method && row.speed == speed && row.objects >= from)
      points.emplace_back(static_cast<double>(row.objects), value(row));
  return points;
}

double us_of(const BroadPhaseRow& row) { return row.us; }

}  // namespace

std::string broad_phase_heading(double speed) {
  std::string text = fmt::format("motion per frame: {:g} box sides\n{:>8} {:>9}", speed, "n", "pairs m");
  for (const char* method : kMethods) text += fmt::format(" {:>19}", method);
  return text + fmt::format(" {:>12} {:>12} {:>7}\n", "swaps", "low-high", "re-sort");
}

std::string broad_phase_line(std::span<const BroadPhaseRow> rows) {
  const BroadPhaseRow& sweep = rows.front();
  std::string text = fmt::format("{:>8} {:>9.0f}", sweep.objects, sweep.pairs);
  for (const char* method : kMethods) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const BroadPhaseRow& r) { return r.method == method; });
    text += row == rows.end() ? fmt::format(" {:>19}", "") : fmt::format(" {:>19.2f}", row->us);
  }
  return text + fmt::format(" {:>12.1f} {:>12.1f} {:>6.0f}%\n", sweep.swaps, sweep.status_swaps, 100.0 * sweep.afresh);
}

std::string broad_phase_growth(std::span<const BroadPhaseRow> rows, double speed) {
  const std::string sweep = kMethods[0];
  std::string text = fmt::format("growth from n = {} on: time ~ n^p with p =", kLarge);
  for (const char* method : kMethods) {
    const Points points = points_of(rows, method, speed, kLarge, us_of);
    if (points.size() > 2) text += fmt::format(" {:.2f} ({})", exponent(points), method);
  }
  const auto swaps = points_of(rows, sweep, speed, kLarge, [](const BroadPhaseRow& row) { return row.swaps; });
  text += fmt::format("; swaps ~ n^{:.2f}\n", exponent(swaps));
  text += fmt::format("{:>8} {:>16} {:>16} {:>16}\n", "n", "ns/(n + m)", "swaps/(n + m)", "swaps/n^(5/3)");
  for (const BroadPhaseRow& row : rows) {
    if (row.method != sweep || row.speed != speed || row.objects < kLarge) continue;
    const double objects = static_cast<double>(row.objects), size = objects + row.pairs;
    text += fmt::format("{:>8} {:>16.1f} {:>16.3f} {:>16.5f}\n", row.objects, 1e3 * row.us / size, row.swaps / size,
                        row.swaps / std::pow(objects, 5.0 / 3.0));
  }
  return text;
}

std::string broad_phase_csv(std::span<const BroadPhaseRow> rows) {
  std::string csv = "method,objects,speed,pairs,us,swaps,status_swaps,afresh\n";
  for (const BroadPhaseRow& row : rows)
    csv += fmt::format("\"{}\",{},{:g},{:.1f},{:.3f},{:.1f},{:.1f},{:.3f}\n", row.method, row.objects, row.speed,
                       row.pairs, row.us, row.swaps, row.status_swaps, row.afresh);
  return csv;
}

// Plots sweep and prune at every speed, and the other methods at one speed, because the speed hardly affects them.
std::string broad_phase_plot(std::span<const BroadPhaseRow> rows, const std::string& machine) {
  if (rows.empty()) return "";
  std::vector<double> speeds;
  for (const BroadPhaseRow& row : rows)
    if (std::find(speeds.begin(), speeds.end(), row.speed) == speeds.end()) speeds.push_back(row.speed);
  const double middle = speeds[speeds.size() / 2];
  std::vector<PlotLine> lines;
  for (const double speed : speeds)
    lines.push_back({fmt::format("sweep, motion {:g}", speed), false, points_of(rows, kMethods[0], speed, 0, us_of)});
  lines.push_back({kMethods[2], false, points_of(rows, kMethods[2], middle, 0, us_of)});
  for (const char* method : {kMethods[3], kMethods[4]})
    lines.push_back({method, true, points_of(rows, method, middle, 0, us_of)});
  return size_plot(
      {"Broad phase: time per frame against the number of objects",
       fmt::format("drifting cubes at constant density; motion in box sides per frame; {}", machine), "objects"},
      lines);
}

}  // namespace trocar::bench
