#include "bench/soft_body_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/size_plot.hpp"

namespace trocar::bench {
namespace {

constexpr double kNano = 1e6, kMicro = 1e3;  // ns and us per ms

bool is_sweep(const SoftBodyTime& way) { return way.name.starts_with("bullet_links"); }

// Returns Bullet's sweep over the links in its fastest order.
const SoftBodyTime* best_sweep(const SoftBodyTable& table) {
  const SoftBodyTime* best = nullptr;
  for (const SoftBodyTime& way : table.ways)
    if (is_sweep(way) && (!best || way.pass.median < best->pass.median)) best = &way;
  return best;
}

// Returns the time that one more sweep adds to Bullet's whole step, ms; 0 if it was not measured.
double added_by_a_sweep(const SoftBodyTable& table, double TimeSummary::*which) {
  const SoftBodyTime *one = table.find("bullet_step_1"), *ten = table.find("bullet_step_10");
  return one && ten ? (ten->pass.*which - one->pass.*which) / (ten->iterations - one->iterations) : 0.0;
}

std::string ratio_lines(const SoftBodyTable& table) {
  const SoftBodyTime* sweep = best_sweep(table);
  if (!sweep) return "";
  std::string text;
  const double springs = static_cast<double>(table.springs);
  text += fmt::format("Bullet, one more sweep in its step: {:.2f} ns per link by medians, {:.2f} by minimums\n",
                      added_by_a_sweep(table, &TimeSummary::median) * kNano / springs,
                      added_by_a_sweep(table, &TimeSummary::minimum) * kNano / springs);
  const auto line = [&](const char* name, const SoftBodyTime& peer) {
    const SoftBodyTime* own = table.find(name);
    const auto against = [&](double TimeSummary::*which) {
      return pace(table.nanoseconds(*own, which), table.nanoseconds(peer, which));
    };
    return fmt::format("{} against {}: {} by medians, {} by minimums; minimum target 4 times faster, goal 8\n", name,
                       peer.name, against(&TimeSummary::median), against(&TimeSummary::minimum));
  };
  for (const char* name : {"own_springs", "own_forces", "own_step"}) text += line(name, *sweep);
  text += line("own_step", *table.find("bullet_links_nodes"));
  return text + line("own_step", *table.find("bullet_step_10"));
}

// time = fixed + slope * springs, least squares of the relative errors.
struct Line {
  double fixed = 0.0, slope = 0.0, worst = 0.0;  // ms, ms, 1
};
Line fit(const std::vector<std::pair<double, double>>& points) {
  double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
  for (const auto& [n, t] : points) {
    s0 += 1 / (t * t), s1 += n / (t * t), s2 += n * n / (t * t);
    t0 += 1 / t, t1 += n / t;
  }
  const double determinant = s0 * s2 - s1 * s1;
  Line line{(t0 * s2 - t1 * s1) / determinant, (s0 * t1 - s1 * t0) / determinant, 0.0};
  for (const auto& [n, t] : points) line.worst = std::max(line.worst, std::abs((line.fixed + line.slope * n) / t - 1));
  return line;
}

std::vector<std::pair<double, double>> iteration_times(const std::vector<SoftBodyTable>& tables, const char* name,
                                                       double TimeSummary::*which) {
  std::vector<std::pair<double, double>> points;
  for (const SoftBodyTable& table : tables)
    if (const SoftBodyTime* way = table.find(name))
      points.emplace_back(static_cast<double>(table.springs), way->pass.*which / way->iterations);
  return points;
}

}  // namespace

const SoftBodyTime* SoftBodyTable::find(std::string_view name) const {
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const SoftBodyTime& way) { return way.name == name; });
  return found == ways.end() ? nullptr : &*found;
}

double SoftBodyTable::nanoseconds(const SoftBodyTime& way, double TimeSummary::*which) const {
  return way.pass.*which * kNano / (static_cast<double>(springs) * way.iterations);
}

std::string soft_body_text(const SoftBodyTable& table) {
  std::string text = fmt::format("{} springs, {} nodes, spacing {:g} mm\n{:<20}{:>11}{:>13}{:>13}{:>10}{:>10}  {}\n",
                                 table.springs, table.nodes, 1e3 * table.spacing, "method", "iterations", "pass, us",
                                 "minimum, us", "ns", "ns, min", "description");
  for (const SoftBodyTime& way : table.ways)
    text +=
        fmt::format("{:<20}{:>11}{:>13.1f}{:>13.1f}{:>10.2f}{:>10.2f}  {}\n", way.name, way.iterations,
                    way.pass.median * kMicro, way.pass.minimum * kMicro, table.nanoseconds(way, &TimeSummary::median),
                    table.nanoseconds(way, &TimeSummary::minimum), way.how);
  if (const SoftBodyTime* tick = table.find("own_step_1ms"))
    text += fmt::format("{:.0f} steps of 1 ms per second by medians, {:.0f} by minimums\n", 1e3 / tick->pass.median,
                        1e3 / tick->pass.minimum);
  return text + ratio_lines(table);
}

std::string soft_body_summary(const std::vector<SoftBodyTable>& tables) {
  if (tables.size() < 2) return "";
  std::string text = "Time of a substep against springs, fitted by a line over all sizes:\n";
  for (const char* name : {"own_springs", "own_forces", "own_step"}) {
    const auto points = iteration_times(tables, name, &TimeSummary::minimum);
    const Line line = fit(points);
    text +=
        fmt::format("{:<12} {:.2f} us + {:.3f} ns per spring (minimums), largest deviation from the line {:.0f} %\n",
                    name, line.fixed * kMicro, line.slope * kNano, 100.0 * line.worst);
  }
  return text;
}

std::string sag_text(const TissueModel& column, const std::vector<Sag>& sags) {
  std::string text = fmt::format(
      "Column of 40 x 40 x 200 mm hanging under {:g} m/s^2 at 60 Hz, E = {:g} Pa; theory {:.2f} mm\n"
      "{:<20}{:>24}{:>10}{:>12}\n",
      -column.params.gravity.z, column.params.youngs_modulus, 1e3 * column_sag_in_theory(column), "method",
      "iterations per frame", "sag, mm", "of theory");
  for (const Sag& sag : sags)
    text += fmt::format("{:<20}{:>24}{:>10.2f}{:>12.2f}\n", sag.name, sag.iterations, 1e3 * sag.metres,
                        sag.metres / column_sag_in_theory(column));
  return text;
}

std::string memory_text(const TissueMemory& m) {
  const auto per = [](std::size_t bytes, std::size_t count) {
    return static_cast<double>(bytes) / static_cast<double>(count);
  };
  std::string text = fmt::format("Memory of {} nodes, {} springs\n{:<28}{:>8}{:>12}{:>12}\n", m.nodes, m.springs, "",
                                 "MB", "B per node", "B per spring");
  const std::array<std::pair<const char*, std::size_t>, 5> rows = {{{"model, arrays", m.model},
                                                                    {"  its lattice", m.lattice},
                                                                    {"state, arrays", m.state},
                                                                    {"process, after a step", m.resident_growth},
                                                                    {"process, peak of building", m.peak_growth}}};
  for (const auto& [name, bytes] : rows)
    text += fmt::format("{:<28}{:>8.1f}{:>12.0f}{:>12.1f}\n", name, static_cast<double>(bytes) * 1e-6,
                        per(bytes, m.nodes), per(bytes, m.springs));
  return text;
}

std::string soft_body_csv(const std::vector<SoftBodyTable>& tables) {
  std::string text = "spacing_mm,nodes,springs,way,iterations,median_us,minimum_us,median_ns,minimum_ns\n";
  for (const SoftBodyTable& table : tables)
    for (const SoftBodyTime& way : table.ways)
      text += fmt::format("{:g},{},{},{},{},{:.3f},{:.3f},{:.4f},{:.4f}\n", 1e3 * table.spacing, table.nodes,
                          table.springs, way.name, way.iterations, way.pass.median * kMicro, way.pass.minimum * kMicro,
                          table.nanoseconds(way, &TimeSummary::median), table.nanoseconds(way, &TimeSummary::minimum));
  return text;
}

std::string soft_body_plot(const std::vector<SoftBodyTable>& tables, const std::string& machine) {
  std::vector<PlotLine> lines;
  for (const auto& [name, label] : {std::pair{"own_step", "our step"},
                                    {"own_forces", "springs, volumes"},
                                    {"own_springs", "springs alone"},
                                    {"bullet_links_rows", "Bullet, rows"},
                                    {"bullet_links_nodes", "Bullet, nodes"},
                                    {"bullet_links_reopt", "Bullet, reoptimised"},
                                    {"bullet_step_1", "Bullet, whole step"}}) {
    PlotLine line{label, std::string_view(name).starts_with("bullet"), {}};
    for (const auto& [springs, ms] : iteration_times(tables, name, &TimeSummary::median))
      line.points.emplace_back(springs, ms * kMicro);
    lines.push_back(std::move(line));
  }
  return size_plot({"One iteration on one lattice, one core", machine, "springs"}, lines);
}

}  // namespace trocar::bench
