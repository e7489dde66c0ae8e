// trocar tissue test | fit: presses, pulls, twists or indents a specimen of a material; finds the material of a
// measured curve.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/commands/tissue_plot.hpp"
#include "app/commands/tissue_specimen.hpp"
#include "geometry/error.hpp"
#include "sim/scene/material.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

constexpr double kMostStrain = 0.8;  // 1
constexpr double kGravity = 9.81;    // m/s^2

struct TestCommand {
  SpecimenOptions specimen;
  double to = 0.0;
  int steps = 10;
  bool reference = false, force = false;
  std::string out, plot, field;
};

struct FitCommand {
  SpecimenOptions specimen;
  std::string data, out;
  int every = 1;
  bool force = false;
  double from = 0.05, up_to = kMostStrain;
};

CurveAxes axes_of(const SpecimenOptions& o) {
  if (o.gravity) return {"gravity_m_s2", "drop_mm", "gravity, m/s\u00b2", "drop, mm"};
  if (o.twists()) return {"angle_deg", "torque_n_m", "angle, degrees", "torque, N m"};
  return {"strain", "force_n", "displacement / height", "force, N"};
}

SpecimenLoad load_at(const SpecimenOptions& o, const CurveTest& test, double height, double level) {
  SpecimenLoad load = test.load;
  if (o.gravity)
    load.gravity = o.shape == "beam" ? glm::dvec3(level, 0.0, 0.0) : glm::dvec3(0.0, 0.0, -level);
  else if (o.twists())
    load.twist = level * std::numbers::pi / 180.0;
  else
    load.press = test.sign * level * height;
  return load;
}

CurveRow row_of(const SpecimenOptions& o, const CurveTest& test, double level, const SpecimenAnswer& a) {
  if (o.gravity && o.shape == "beam") return {level, 1e3 * a.end.x, 1e3 * a.reference_end.x};
  if (o.gravity) return {level, -1e3 * a.end.z, -1e3 * a.reference_end.z};
  if (o.twists()) return {level, a.step.torque, a.reference.torque};
  return {level, test.sign * a.step.push, test.sign * a.reference.push};
}

double last_level(const TestCommand& command) {
  const SpecimenOptions& o = command.specimen;
  if (o.gravity) return kGravity;
  if (o.twists()) return o.twist_deg;
  return command.to;
}

// Rounds to the digits that the curve keeps.
std::string csv_row(const CurveRow& row, bool reference) {
  return reference ? fmt::format("{:.6g},{:.6g},{:.6g}\n", row.at, row.step, row.reference)
                   : fmt::format("{:.6g},{:.6g}\n", row.at, row.step);
}

void write_curve(OutputFile& out, const CurveAxes& axes, const std::vector<CurveRow>& rows, bool reference) {
  out.stream() << axes.across << "," << axes.up << (reference ? ",reference\n" : "\n");
  for (const CurveRow& row : rows) out.stream() << csv_row(row, reference);
  out.commit();
}

void write_field(OutputFile& out, const Specimen& specimen, const SpecimenAnswer& answer) {
  out.stream() << "x_mm,y_mm,z_mm,moved_x_mm,moved_y_mm,moved_z_mm\n";
  for (std::size_t i = 0; i < answer.moved.size(); ++i) {
    const glm::dvec3 p = 1e3 * (glm::transpose(specimen.turn) * glm::dvec3(specimen.model.rest[i]));
    const glm::dvec3 m = 1e3 * answer.moved[i];
    fmt::print(out.stream(), "{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", p.x, p.y, p.z, m.x, m.y, m.z);
  }
  out.commit();
}

void write_plot(OutputFile& out, const SpecimenOptions& o, const std::vector<CurveRow>& rows, bool reference) {
  out.stream() << curve_svg(o.shape == "mesh" ? "mesh" : title_of(o), axes_of(o), rows, reference);
  out.commit();
}

void open(std::optional<OutputFile>& out, const std::string& file, OutputKind kind) {
  if (!file.empty()) out.emplace(file, kind);
}

void test(const TestCommand& command) {
  const SpecimenOptions& o = command.specimen;
  refuse_contradictions(o);
  const std::vector<NamedFile> outputs{{"--out", command.out}, {"--plot", command.plot}, {"--field", command.field}};
  refuse_same_files({{"--material", o.material}, {"--mesh", o.mesh}}, outputs);
  std::optional<OutputFile> curve, plot, field;
  open(curve, command.out, OutputKind::Table), open(plot, command.plot, OutputKind::Plot);
  open(field, command.field, OutputKind::Table);
  refuse_existing(outputs, command.force);
  const TissueParams params = params_of(o);
  const CurveTest setup = test_of(o, params.node_spacing);
  const Specimen specimen = make_specimen(setup.mesh, params, setup.turn);
  fmt::print("{}, {} nodes, {:g} mm apart\n", title_of(o), specimen.model.rest.size(), 1e3 * params.node_spacing);
  SpecimenSolver solver(specimen);
  SpecimenAnswer answer;
  std::vector<CurveRow> rows;
  double flattest = 1.0;
  fmt::print("{:>13} {:>13}{}\n", axes_of(o).across, axes_of(o).up, command.reference ? "     reference" : "");
  for (int i = 1; i <= command.steps; ++i) {
    const double level = last_level(command) * i / command.steps;
    answer = solver.solve(load_at(o, setup, specimen.height, level));
    if (!answer.fault.empty())
      throw RunError(
          fmt::format("at {} {:g}: {}; take more --steps or a smaller load", axes_of(o).across, level, answer.fault));
    rows.push_back(row_of(o, setup, level, answer));
    flattest = std::min(flattest, answer.flattest);
    fmt::print("{:>13.4g} {:>13.5g}{}\n", level, rows.back().step,
               command.reference ? fmt::format(" {:>13.5g}", rows.back().reference) : "");
  }
  if (flattest < 0.5)
    fmt::print("corners of cells {}; in a scene unfolding forces would act there, which this test leaves out\n",
               flattest < 0.0 ? "turn inside out" : "lose more than half of their volume");
  if (curve) write_curve(*curve, axes_of(o), rows, command.reference);
  if (plot) write_plot(*plot, o, rows, command.reference);
  if (field) write_field(*field, specimen, answer);
}

// Returns for each row whether it is fitted.
std::vector<bool> fitted_rows(const FitCommand& command, const std::vector<CurvePoint>& points) {
  std::vector<bool> fitted;
  int within = 0;
  for (const CurvePoint& point : points) {
    const bool inside = point.strain >= command.from && point.strain <= command.up_to;
    fitted.push_back(inside && within++ % command.every == 0);
  }
  return fitted;
}

void fit(const FitCommand& command) {
  const SpecimenOptions& o = command.specimen;
  refuse_contradictions(o);
  refuse_same_files({{"the curve", command.data}, {"--mesh", o.mesh}}, {{"--out", command.out}});
  OutputFile out(command.out, OutputKind::Material);
  refuse_existing({{"--out", command.out}}, command.force);
  const std::vector<CurvePoint> points = load_curve(command.data, kMostStrain);
  const std::vector<bool> is_fitted = fitted_rows(command, points);
  std::vector<CurvePoint> fitted;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (is_fitted[i]) fitted.push_back(points[i]);
  if (fitted.size() < 2)
    throw InputError(
        fmt::format("{}: {} of its rows are fitted; the fit needs two or more", command.data, fitted.size()));
  TissueParams params = params_of(o);
  const CurveTest setup = test_of(o, params.node_spacing);
  params = fit_curve(setup, params, fitted);
  const std::vector<double> force = curve_of(setup, params, points);
  fmt::print("{}\n  strain  measured N      fitted N     error %   of tolerance\n", title_of(o));
  double worst = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double error = force[i] - points[i].force, share = error / tolerance_of(points[i]);
    if (points[i].strain >= command.from) worst = std::max(worst, std::abs(share));
    fmt::print("{:>8.4g} {:>11.5g} {:>13.5g} {:>+11.1f} {:>+14.2f}{}\n", points[i].strain, points[i].force, force[i],
               100.0 * error / points[i].force, share, is_fitted[i] ? "" : "  not fitted");
  }
  fmt::print(
      "Young's modulus {:.4g} kPa, stiffening {:.4g}, late {:.4g}; largest error from {:g} on {:.2f} of the "
      "tolerance\n",
      1e-3 * params.youngs_modulus, params.stiffening, params.late_stiffening, command.from, worst);
  out.stream() << material_text(
      params, fmt::format("{}, fitted to {} rows", o.shape == "mesh" ? "mesh" : title_of(o), fitted.size()));
  out.commit();
}

void add_test(CLI::App& tissue) {
  auto command = std::make_shared<TestCommand>();
  CLI::App* sub = tissue.add_subcommand("test", "Press, pull, twist or indent a specimen, or let it sag");
  add_specimen_options(*sub, command->specimen, true);
  CLI::Option* to = sub->add_option("--to", command->to, "Largest displacement over the height of the specimen");
  CLI::Option* twist = sub->add_option("--twist", command->specimen.twist_deg, "Twist to this angle, degrees");
  CLI::Option* gravity = sub->add_flag("--gravity", command->specimen.gravity,
                                       "Its own weight, with the lower end held: of a beam across it, else along it");
  command->to = 0.2;
  to->check(within(1e-4, kMostStrain))->excludes(twist)->excludes(gravity)->capture_default_str();
  twist->check(within(0.01, 360.0))->excludes(gravity);
  sub->add_option("--steps", command->steps, "Number of loads up to the largest")
      ->check(within(1, 1000))
      ->capture_default_str();
  sub->add_flag("--reference", command->reference, "Add a column of the implicit reference solver");
  sub->add_option("-o,--out", command->out,
                  "Curve to write: strain,force_n, gravity_m_s2,drop_mm or angle_deg,torque_n_m");
  sub->add_option("--plot", command->plot, "Plot of the curve to write, SVG");
  sub->add_option("--field", command->field, "Displacement of every node at the last load, a table to write");
  add_force_option(*sub, command->force);
  sub->callback([command] { test(*command); });
}

void add_fit(CLI::App& tissue) {
  auto command = std::make_shared<FitCommand>();
  CLI::App* sub = tissue.add_subcommand("fit", "Find the material with which a specimen has a measured curve");
  sub->add_option("data", command->data, "Measured curve: columns strain,force_n[,sd_n]")->required();
  add_specimen_options(*sub, command->specimen, false);
  command->specimen.poisson = 0.49;
  sub->add_option("--poisson", command->specimen.poisson, "Poisson's ratio, which is not fitted")
      ->check(within(0.25, 0.49))
      ->capture_default_str();
  sub->add_option("--every", command->every, "Fit only every Nth row")->check(within(1, 100))->capture_default_str();
  sub->add_option("--from", command->from, "Fit only rows from this strain on: at first plates are not in full contact")
      ->check(within(0.0, kMostStrain))
      ->capture_default_str();
  sub->add_option("--up-to", command->up_to, "Fit only rows up to this strain")
      ->check(within(1e-3, kMostStrain))
      ->capture_default_str();
  sub->add_option("-o,--out", command->out, "Material to write, TOML")->required();
  add_force_option(*sub, command->force);
  sub->callback([command] { fit(*command); });
}

}  // namespace

void add_tissue_command(CLI::App& program) {
  CLI::App* tissue =
      program.add_subcommand("tissue", "Material tests: virtual specimens, and materials from measured curves");
  tissue->require_subcommand(1);
  add_test(*tissue);
  add_fit(*tissue);
}

}  // namespace trocar
