// trocar_tissue_curves OUT [LIVER]: measures the tissue and writes plots (SVG) and numbers (CSV) to the folder OUT.
// tissue_modulus  Young's modulus of bars against node spacing, along the lattice and at 45 degrees to it
// tissue_beams    cantilever, its period and a hanging column against beam theory, over cells across the beam
// tissue_steps    sag against the length of a substep
// tissue_squeeze  squeeze of jaws that close on a fold of 5 mm against their aperture: handle, law and lattice
// tissue_peel     force that peels a strip off its bed against the length that is still joined
// tissue_press    force of a press and release on LIVER (the OpenHELP liver, STL): step at 60 Hz and at 1 kHz, implicit
//                 reference solver
// tissue_press_spacing   force of that press at its deepest over node spacing
// Without LIVER the last two are omitted. Takes some minutes, mostly for the implicit reference solver.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "bench/plots.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/tissue_measures.hpp"

namespace trocar::bench {
namespace {

using test::Bar, test::Positions;

struct Output {
  std::filesystem::path folder;

  void write(const char* name, const LinePlot& plot) const {
    std::ofstream(folder / fmt::format("{}.svg", name)) << line_plot_svg(plot);
    std::ofstream(folder / fmt::format("{}.csv", name)) << line_plot_csv(plot);
    fmt::print("{}\n{}\n", name, line_plot_csv(plot));
  }
};

TissueParams settling(double spacing, float drag) {
  TissueParams params;
  params.node_spacing = static_cast<float>(spacing);
  params.drag = drag;
  return params;
}

LinePlot modulus_plot() {
  LinePlot plot{.title = "Young's modulus measured",
                .subtitle = "bar 48 x 48 x 192 mm, E = 6 kPa, secant at 10 %, real-time step",
                .x_name = "node spacing (mm)",
                .y_name = "measured E / stated E",
                .y_low = 0.8,
                .y_high = 1.2,
                .band_low = 0.9,
                .band_high = 1.1,
                .band_name = "within 10 %"};
  const struct {
    const char* name;
    double turn, strain;
  } cases[] = {{"along, pulled", 0.0, 0.1},
               {"along, pressed", 0.0, -0.1},
               {"45 degrees, pulled", std::numbers::pi / 4.0, 0.1},
               {"45 degrees, pressed", std::numbers::pi / 4.0, -0.1}};
  for (const auto& c : cases) {
    Series series{c.name, {}, true, c.strain > 0.0 ? Mark::Dot : Mark::Ring};
    for (const double h : {0.006, 0.008, 0.0096, 0.012, 0.016}) {
      const Bar bar{{0.192, 0.048, 0.048}, c.turn};
      const TissueModel model = test::clamped_bar(bar, settling(h, 20.f));
      const Positions x = test::stepped(model, test::clamped_and_stretched(model, bar, c.strain), 1.0);
      series.points.emplace_back(1e3 * h, test::measure(model, bar, x).modulus / model.params.youngs_modulus);
    }
    plot.series.push_back(series);
  }
  return plot;
}

double half_period(TissueModel model, const Bar& bar, const Positions& bent, double theory) {
  SteppedTissue state = rest_state(model);
  for (std::size_t i = 0; i < bent.size(); ++i) state.x[i] = glm::vec3(bent[i]);
  for (glm::vec3& g : model.gravity) g = glm::vec3(0.f);
  double before = -1.0, first = -1.0;
  for (int i = 1; i < 60.0 * 2.0 * theory; ++i) {
    step(model, state, {}, 1.f / 60.f);
    const double now = test::end_movement(model, bar, test::positions_of(state)).y;
    const double time = (i - 1 + before / (before - now)) / 60.0;
    if ((before < 0.0) != (now < 0.0) && first >= 0.0) return time - first;
    if ((before < 0.0) != (now < 0.0)) first = time;
    before = now;
  }
  return 0.0;
}

LinePlot beam_plot() {
  LinePlot plot{.title = "Beams against beam theory",
                .subtitle = "256 mm long, 32 mm square, E = 6 kPa, Poisson's ratio 0.46",
                .x_name = "cells across the beam",
                .y_name = "measured / theory",
                .y_low = 0.7,
                .y_high = 1.1,
                .band_low = 0.9,
                .band_high = 1.1,
                .band_name = "within 10 %"};
  Series bend{"cantilever's deflection", {}, true, Mark::Dot}, period{"cantilever's period", {}, true, Mark::Square},
      hang{"hanging column's sag", {}, true, Mark::Ring};
  const Bar bar{{0.256, 0.032, 0.032}};
  for (const int cells : {2, 3, 4, 5, 6, 8}) {
    TissueParams params = settling(bar.size.y / cells, 0.f);
    params.damping_time = 0.f;
    params.gravity = {0.f, -0.004f, 0.f};
    TissueModel model = test::cantilever(bar, params);
    const Positions rest(model.rest.begin(), model.rest.end()), bent = test::at_rest_by_reference(model, rest);
    const double theory = test::beam_period(params, bar.size.x, bar.size.y);
    bend.points.emplace_back(
        cells, -test::end_movement(model, bar, bent).y / test::beam_deflection(params, bar.size.x, bar.size.y));
    period.points.emplace_back(cells, 2.0 * half_period(model, bar, bent, theory) / theory);
    params.gravity = {1.f, 0.f, 0.f};
    model = test::cantilever(bar, params);
    hang.points.emplace_back(cells, test::end_movement(model, bar, test::at_rest_by_reference(model, rest)).x /
                                        test::column_sag(params, bar.size.x));
  }
  plot.series = {bend, period, hang};
  return plot;
}

LinePlot steps_plot() {
  LinePlot plot{.title = "Sag of a hanging column over the substep",
                .subtitle = "48 x 48 x 144 mm, node spacing 12 mm, real-time step",
                .x_name = "substep (ms)",
                .y_name = "sag / sag at 60 Hz",
                .y_low = 0.94,
                .y_high = 1.06,
                .band_low = 0.95,
                .band_high = 1.05,
                .band_name = "within 5 %"};
  const Bar bar{{0.144, 0.048, 0.048}};
  const auto sag = [&](int substeps, float dt, Series& series) {
    TissueParams params = settling(0.012, 20.f);
    params.gravity = {1.f, 0.f, 0.f};
    params.substeps = substeps;
    const TissueModel model = test::cantilever(bar, params);
    const Positions rest(model.rest.begin(), model.rest.end());
    series.points.emplace_back(1e3 * dt / substep_count(model, dt),
                               test::end_movement(model, bar, test::stepped(model, rest, 2.0, dt)).x);
  };
  Series substeps{"60 Hz, 1 to 60 substeps at least", {}, true, Mark::Ring},
      rates{"30 to 1000 Hz", {}, true, Mark::Dot};
  for (const int n : {60, 40, 30, 20, 15, 12, 1}) sag(n, 1.f / 60.f, substeps);
  for (const float rate : {1000.f, 700.f, 500.f, 250.f, 120.f, 60.f, 30.f}) sag(1, 1.f / rate, rates);
  const double reference = substeps.points.back().second;
  for (Series* series : {&substeps, &rates}) {
    for (auto& point : series->points) point.second /= reference;
    std::sort(series->points.begin(), series->points.end());
  }
  plot.series = {rates, substeps};
  return plot;
}

// Jaws that close on a fold step by step. `percent`: aperture of the jaws.
struct Squeezed {
  double percent, squeeze, tissue;  // %, N of the handle, N of the tissue on a jaw
};

double percent_of(double opening) { return 100.0 * opening / test::kWidest; }

std::vector<Squeezed> squeezed(test::Fold& fold, double firmness) {
  fold.firmness = firmness;
  fold.params.friction = 50.f;  // the holds must not slip
  fold.params.tear_from = 1e6f;
  fold.close_to(0.45);
  std::vector<Squeezed> steps;
  for (int step = 9; step >= 0; --step) {
    fold.close_to(0.04 * step);
    fold.close_to(0.04 * step);
    steps.push_back({percent_of(fold.tool.motion.opening_after), fold.grasp.squeeze, fold.on_upper});
  }
  return steps;
}

// The jaws stop where the force of the handle equals that of the tissue, which is measured on the jaws. The law of a
// free layer is its lower limit.
LinePlot squeeze_plot() {
  LinePlot plot{
      .title = "Squeeze of jaws that close on a fold",
      .subtitle = "fold 5 mm thick, E = 6 kPa, jaws of 3.6 mm, node spacing 2.5 mm; the handle closes in ten steps",
      .x_name = "aperture of the jaws (%)",
      .y_name = "force on a jaw (N)"};
  Series law{"free layer (law)", {}, true, Mark::None}, tissue{"tissue on a jaw", {}, true, Mark::None},
      firm{"squeeze, firm grip", {}, false, Mark::Dot}, light{"squeeze, light grip", {}, false, Mark::Ring};
  test::Fold fold, lightly_held;
  for (const Squeezed& step : squeezed(fold, 1.0)) {
    firm.points.emplace_back(step.percent, step.squeeze);
    tissue.points.emplace_back(step.percent, step.tissue);
  }
  for (const Squeezed& step : squeezed(lightly_held, 1.0 / 3.0)) light.points.emplace_back(step.percent, step.squeeze);
  const double first = fold.grasp.first_opening, scale = fold.grasp.area * fold.grasp.youngs_modulus / 3.0;
  for (double stretch = 1.0; stretch > 0.2; stretch -= 0.02)
    law.points.emplace_back(percent_of(stretch * first), scale * (1.0 / (stretch * stretch) - stretch));
  plot.series = {law, tissue, firm, light};
  return plot;
}

LinePlot peel_plot() {
  LinePlot plot{
      .title = "A strip is peeled off its bed at a right angle",
      .subtitle = "layer 3 kPa, 1.5 mm, breaking strain 1.5 (5.1 J/m2); fibres 1 mm apart; 30 mm/s; means of 6 frames",
      .x_name = "length of the bed still joined (mm)",
      .y_name = "force (N)"};
  const struct {
    const char* name;
    float length, width;
    Mark mark;
  } cases[] = {{"bed 120 x 20 mm", 0.12f, 0.02f, Mark::Dot},
               {"bed 60 x 20 mm", 0.06f, 0.02f, Mark::Ring},
               {"bed 120 x 10 mm", 0.12f, 0.01f, Mark::Square}};
  constexpr std::size_t kMean = 6;  // frames
  for (const auto& c : cases) {
    Series series{c.name, {}, true, c.mark};
    const auto steps = test::Peel({.length = c.length, .width = c.width, .spacing = 0.001f}).run();
    for (std::size_t first = 0; first + kMean <= steps.size(); first += kMean) {
      double force = 0.0, joined = 0.0;
      for (std::size_t i = first; i < first + kMean; ++i) {
        force += steps[i].force / double(kMean);
        joined += steps[i].bonded / double(kMean);
      }
      series.points.emplace_back(1e3 * joined, force);
    }
    plot.series.push_back(series);
  }
  return plot;
}

constexpr double kRadius = 0.005;  // m

template <class Solver>
Series press_curve(const char* name, Solver solver, double rate, const std::vector<TissueContact>& points, Mark mark) {
  Series series{name, {{0.0, 0.0}}, mark == Mark::None, mark};
  const test::PressAndRelease press;
  const double dt = 1.0 / rate;
  for (double from = 0.0; from < press.duration() - 1e-9; from += dt) {
    const double to = std::min(from + dt, press.duration());
    series.points.emplace_back(1e3 * to, solver.press(press.tool(kRadius, from, to), points, to - from).z);
  }
  return series;
}

LinePlot press_plot(const std::filesystem::path& liver) {
  constexpr double kSpacing = 0.014;
  const test::LiverScene scene = test::liver_scene(liver, settling(kSpacing, TissueParams().drag));
  const auto points = test::points_near_dome(scene.mesh, 0.012f);
  LinePlot plot{.title = "A 10 mm instrument pressed 10 mm into the liver and released",
                .subtitle = "OpenHELP liver, E = 6 kPa, friction 0.2, 20 mm/s, node spacing 14 mm",
                .x_name = "time (ms)",
                .y_name = "force along the press (N)"};
  plot.series.push_back(press_curve("real-time step, 1 kHz", test::Stepped{scene}, 1000.0, points, Mark::None));
  plot.series.push_back(press_curve("real-time step, 60 Hz", test::Stepped{scene}, 60.0, points, Mark::None));
  plot.series.push_back(
      press_curve("reference, implicit, 30 Hz", test::ReferenceSolved{scene}, 30.0, points, Mark::Ring));
  return plot;
}

LinePlot press_spacing_plot(const std::filesystem::path& liver) {
  LinePlot plot{.title = "Force of a press 10 mm into the liver, over the node spacing",
                .subtitle = "OpenHELP liver, E = 6 kPa, friction 0.2, real-time step at 60 Hz",
                .x_name = "node spacing (mm)",
                .y_name = "force along the press (N)",
                .y_low = 0.0,
                .y_high = 1.2};
  for (const double radius : {0.005, 0.0025}) {
    Series series{
        radius > 0.004 ? "10 mm instrument" : "5 mm instrument", {}, true, radius > 0.004 ? Mark::Dot : Mark::Ring};
    for (const double h : {0.005, 0.006, 0.008, 0.010, 0.012, 0.014, 0.017, 0.020}) {
      const test::LiverScene scene = test::liver_scene(liver, settling(h, TissueParams().drag));
      const auto points = test::points_near_dome(scene.mesh, 0.012f);
      test::Stepped solver{scene};
      double force = 0.0;
      for (int i = 0; i < 60; ++i) {
        const auto depth = [](int frame) { return std::min(frame / 30.0, 1.0) * 0.01; };
        force = solver.press(test::tool_on_dome(radius, depth(i), depth(i + 1)), points, 1.0 / 60.0).z;
      }
      series.points.emplace_back(1e3 * h, force);
    }
    plot.series.push_back(series);
  }
  return plot;
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  using namespace trocar::bench;
  CLI::App app("Measurements of the tissue as plots and numbers.");
  Output out;
  std::filesystem::path liver;
  app.add_option("OUT", out.folder, "folder for the plots (SVG) and numbers (CSV)")->required();
  app.add_option("LIVER", liver, "the OpenHELP liver (STL), for the presses");
  CLI11_PARSE(app, argc, argv);
  std::filesystem::create_directories(out.folder);
  out.write("tissue_modulus", modulus_plot());
  out.write("tissue_beams", beam_plot());
  out.write("tissue_steps", steps_plot());
  out.write("tissue_squeeze", squeeze_plot());
  out.write("tissue_peel", peel_plot());
  if (liver.empty()) return 0;
  out.write("tissue_press_spacing", press_spacing_plot(liver));
  out.write("tissue_press", press_plot(liver));
}
