// trocar tissue test | fit: presses, pulls, twists or indents a specimen of a material, and plots the curve; finds the
// material of a measured curve.   Tested in tests/app/files_test.cpp
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "deform/reference/specimen.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/scene/material.hpp"
#include "sim/support/files.hpp"
#include "sim/support/markup.hpp"

namespace trocar {
namespace {

// One load of a test: its level, and the answers of the real-time step and of the reference.
struct CurveRow {
  double at, step, reference;
};

// The two columns of a curve in a table, and in a plot.
struct CurveAxes {
  const char *across, *up, *across_label, *up_label;
};

// The plot: its frame in pixels, and its axes.
constexpr double kLeft = 60.0, kRight = 560.0, kTop = 90.0, kBottom = 370.0;
struct Scale {
  PlotAxis x{0.0, 1e-12, kLeft, kRight}, y{0.0, 1e-12, kBottom, kTop};
};

std::string marks(const Scale& scale) {
  std::string svg;
  for (double v = 0.0, step = round_step(scale.x.high / 4.0); v <= scale.x.high * 1.0001; v += step)
    svg += fmt::format(
        "<path d='M{0:.1f},{1} v5' stroke='#888'/><text x='{0:.1f}' y='{2}' text-anchor='middle'>{3:.3g}</text>\n",
        scale.x(v), kBottom, kBottom + 20.0, v);
  for (double v = 0.0, step = round_step(scale.y.high / 4.0); v <= scale.y.high * 1.0001; v += step)
    svg += fmt::format(
        "<path d='M{0},{1:.1f} h{2}' class='grid'/><text x='{3}' y='{4:.1f}' text-anchor='end'>{5:.3g}</text>\n", kLeft,
        scale.y(v), kRight - kLeft, kLeft - 6.0, scale.y(v) + 4.0, v);
  return svg;
}

std::string polyline(const std::vector<CurveRow>& rows, double CurveRow::*value, const Scale& scale,
                     const char* colour) {
  std::string points = fmt::format("{:.1f},{:.1f}", scale.x(0.0), scale.y(0.0));
  for (const CurveRow& row : rows) points += fmt::format(" {:.1f},{:.1f}", scale.x(row.at), scale.y(row.*value));
  return fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>\n", points, colour);
}

// Circles for the step; with `reference` the line is the reference's.
std::string curve_svg(const std::string& title, const CurveAxes& axes, const std::vector<CurveRow>& rows,
                      bool reference) {
  Scale scale;
  for (const CurveRow& row : rows) {
    scale.x.high = std::max(scale.x.high, row.at);
    scale.y.high = std::max({scale.y.high, row.step, reference ? row.reference : 0.0});
  }
  std::string svg = svg_opening({.width = 600, .height = 420, .title = "Material test: " + title});
  svg += "<circle cx='72' cy='70' r='4' fill='#0072b2'/><text x='84' y='74'>real-time step</text>";
  if (reference)
    svg += "<path d='M200,70 h24' stroke='#e69f00' stroke-width='2'/><text x='232' y='74'>implicit reference</text>";
  svg += marks(scale);
  svg += fmt::format(
      "<text x='{}' y='410' text-anchor='middle'>{}</text>\n<text x='{}' y='74' text-anchor='end'>{}</text>\n",
      0.5 * (kLeft + kRight), axes.across_label, kRight, axes.up_label);
  if (reference) svg += polyline(rows, &CurveRow::reference, scale, "#e69f00");
  for (const CurveRow& row : rows)
    svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='#0072b2'/>\n", scale.x(row.at), scale.y(row.step));
  if (!reference) svg += polyline(rows, &CurveRow::step, scale, "#0072b2");
  return svg + "</svg>\n";
}

struct SpecimenOptions {
  std::string shape = "cylinder", mesh, material;
  double diameter_mm = 50.0, height_mm = 30.0;
  std::vector<double> size_mm = {20.0, 20.0, 200.0};
  double spacing_mm = 0.0;  // 0: a sixth of the smallest side
  double turn_deg = 0.0;
  double modulus_kpa = 6.0, poisson = 0.46, stiffening = 0.0, late_stiffening = 0.0, density = 1060.0;
  bool springs = false;  // the law `springs`
  bool stick = false, slip = false, pull = false, gravity = false;
  double twist_deg = 0.0, ball_mm = 0.0;

  bool twists() const { return twist_deg > 0.0; }
};

void add_plate_options(Command& command, SpecimenOptions& options) {
  command.option("--slip", options.slip, "Plates without friction (the default)");
  command.option("--stick", options.stick, "Ends keep their positions on the plates").excludes({"--slip"});
  command.option("--pull", options.pull, "Pull: the ends stay on the plates").excludes({"--ball"});
  command.option("--ball", options.ball_mm, "Indent: a ball of this diameter instead of the upper plate, mm")
      .within(0.1, 1e4);
}

void add_material_options(Command& command, SpecimenOptions& options) {
  command.option("--material", options.material, "Material: a file of trocar tissue fit");
  command.option("--modulus", options.modulus_kpa, "Young's modulus at small strain, kPa")
      .within(1e-3, 1e6)
      .excludes({"--material"})
      .shown();
  command.option("--poisson", options.poisson, "Poisson's ratio").within(0.25, 0.49).excludes({"--material"}).shown();
  command.option("--stiffening", options.stiffening, "Stiffening from the start; below 0 the tissue softens")
      .within(kLeastStiffening, kMostStiffening)
      .excludes({"--material"})
      .shown();
  command.option("--late-stiffening", options.late_stiffening, "Stiffening at large strain")
      .within(0.0, kMostLateStiffening)
      .excludes({"--material"})
      .shown();
  command.option("--springs", options.springs, "The law `springs` instead of `rising`").excludes({"--material"});
  command.option("--density", options.density, "Density, kg/m^3").within(1.0, 1e5).shown();
}

TriangleMesh mesh_of(const SpecimenOptions& o, double edge) {
  if (o.shape == "mesh") return load_mesh(o.mesh);
  if (o.shape == "cylinder") return make_cylinder(o.diameter_mm * 1e-3, o.height_mm * 1e-3, edge);
  return make_block(1e-3 * glm::dvec3(o.size_mm[0], o.size_mm[1], o.size_mm[2]), edge);
}

double smallest_side(const SpecimenOptions& o) {
  if (o.shape == "cylinder") return std::min(o.diameter_mm, o.height_mm);
  if (o.shape != "mesh") return *std::min_element(o.size_mm.begin(), o.size_mm.end());
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const glm::vec3& p : load_mesh(o.mesh).positions) low = glm::min(low, p), high = glm::max(high, p);
  return 1e3 * std::min({high.x - low.x, high.y - low.y, high.z - low.z});
}

// Adds the options of the specimen and the plates; those of the material only with `material`.
void add_specimen_options(Command& command, SpecimenOptions& options, bool material) {
  command.option("--shape", options.shape, "cylinder, block, beam or mesh; the machine presses along z")
      .one_of({"cylinder", "block", "beam", "mesh"})
      .shown();
  command.option("--diameter", options.diameter_mm, "Of the cylinder, mm").within(0.1, 1e4).shown();
  command.option("--height", options.height_mm, "Of the cylinder, mm").within(0.1, 1e4).shown();
  command.option("--size", options.size_mm, "Sides X,Y,Z of the block or beam, mm")
      .with_commas(3)
      .within(0.1, 1e4)
      .shown();
  command.option("--mesh", options.mesh, "Mesh with flat ends at its lowest and highest z, in mm");
  command
      .option("--spacing", options.spacing_mm,
              "Distance between the nodes, mm; without it a sixth of the smallest side")
      .within(0.05, 1e3);
  command.option("--turn", options.turn_deg, "Turn the specimen in its lattice about y, degrees")
      .within(-180.0, 180.0)
      .shown();
  add_plate_options(command, options);
  if (material) add_material_options(command, options);
}

// Throws InputError for options that contradict each other.
void refuse_contradictions(const SpecimenOptions& o) {
  if (o.shape == "mesh" && o.mesh.empty()) throw InputError("--shape mesh needs --mesh; name the file");
  if (o.shape != "mesh" && !o.mesh.empty()) throw InputError("--mesh needs --shape mesh");
  if (o.twists() && o.slip) throw InputError("--twist needs ends that stick; leave out --slip");
  if (o.twists() && (o.pull || o.ball_mm > 0.0))
    throw InputError("--twist, --pull and --ball are different tests; give one of them");
  if (o.gravity && o.pull) throw InputError("--gravity and --pull are two tests; leave one of them out");
  if (o.gravity && o.ball_mm > 0.0) throw InputError("--gravity and --ball are two tests; leave one of them out");
}

// Returns law, moduli, density and node spacing.
TissueParams params_of(const SpecimenOptions& o) {
  TissueParams params;
  params.law = o.springs ? TissueLaw::Springs : TissueLaw::Rising;
  params.youngs_modulus = static_cast<float>(1e3 * o.modulus_kpa);
  params.poisson_ratio = static_cast<float>(o.poisson);
  params.stiffening = static_cast<float>(o.stiffening);
  params.late_stiffening = static_cast<float>(o.late_stiffening);
  params.density = static_cast<float>(o.density);
  if (!o.material.empty()) load_material(o.material, params);
  const double spacing = o.spacing_mm > 0.0 ? o.spacing_mm : smallest_side(o) / 6.0;
  params.node_spacing = static_cast<float>(1e-3 * spacing);
  return params;
}

// Returns the longest edge of the surface, m. Plates and ball act on its vertices: a ball needs several under it.
double edge_of(const SpecimenOptions& o, double spacing) {
  constexpr double kOfBall = 1.0 / 12.0, kOfSide = 1.0 / 150.0;
  if (!(o.ball_mm > 0.0)) return 0.5 * spacing;
  return std::min(0.5 * spacing, 1e-3 * std::max(kOfBall * o.ball_mm, kOfSide * smallest_side(o)));
}

// Returns mesh, position and grips; press, twist and gravity are 0.
CurveTest test_of(const SpecimenOptions& o, double spacing) {
  CurveTest test;
  test.mesh = mesh_of(o, edge_of(o, spacing));
  const double angle = o.turn_deg * std::numbers::pi / 180.0, c = elementary::cos(angle), s = elementary::sin(angle);
  test.turn = {{c, 0.0, -s}, {0.0, 1.0, 0.0}, {s, 0.0, c}};
  if (o.pull) test.sign = -1.0;
  const bool glued = o.pull || o.twists() || o.gravity;
  const Grip grip = o.twists() || (glued && o.stick) ? Grip::Clamp
                    : glued                          ? Grip::Plane
                    : o.stick                        ? Grip::Stick
                                                     : Grip::Slip;
  test.load.lower = grip;
  test.load.upper = o.gravity || o.ball_mm > 0.0 ? Grip::Free : grip;
  test.load.ball_radius = 0.5e-3 * o.ball_mm;
  return test;
}

// Returns one line that describes specimen and test.
std::string title_of(const SpecimenOptions& o) {
  const std::string shape = o.shape == "mesh"       ? o.mesh
                            : o.shape == "cylinder" ? fmt::format("cylinder {:g} x {:g} mm", o.diameter_mm, o.height_mm)
                                                    : fmt::format("{} {:g} x {:g} x {:g} mm", o.shape, o.size_mm[0],
                                                                  o.size_mm[1], o.size_mm[2]);
  const std::string what = o.gravity         ? "under its own weight"
                           : o.twists()      ? "twisted"
                           : o.ball_mm > 0.0 ? fmt::format("under a ball of {:g} mm", o.ball_mm)
                           : o.pull          ? "pulled"
                                             : "pressed";
  return fmt::format("{} {}, {}", shape, what, o.stick || o.twists() ? "sticking" : "slipping");
}

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

void add_test(Command& tissue) {
  auto command = std::make_shared<TestCommand>();
  Command& sub = tissue.command("test", "Press, pull, twist or indent a specimen, or let it sag");
  add_specimen_options(sub, command->specimen, true);
  command->to = 0.2;
  sub.option("--to", command->to, "Largest displacement over the height of the specimen")
      .within(1e-4, kMostStrain)
      .excludes({"--twist", "--gravity"})
      .shown();
  sub.option("--twist", command->specimen.twist_deg, "Twist to this angle, degrees")
      .within(0.01, 360.0)
      .excludes({"--gravity"});
  sub.option("--gravity", command->specimen.gravity,
             "Its own weight, with the lower end held: of a beam across it, else along it");
  sub.option("--steps", command->steps, "Number of loads up to the largest").within(1, 1000).shown();
  sub.option("--reference", command->reference, "Add a column of the implicit reference solver");
  sub.option("-o,--out", command->out, "Curve to write: strain,force_n, gravity_m_s2,drop_mm or angle_deg,torque_n_m");
  sub.option("--plot", command->plot, "Plot of the curve to write, SVG");
  sub.option("--field", command->field, "Displacement of every node at the last load, a table to write");
  add_force_option(sub, command->force);
  sub.runs([command] { test(*command); });
}

void add_fit(Command& tissue) {
  auto command = std::make_shared<FitCommand>();
  Command& sub = tissue.command("fit", "Find the material with which a specimen has a measured curve");
  sub.option("data", command->data, "Measured curve: columns strain,force_n[,sd_n]").required();
  add_specimen_options(sub, command->specimen, false);
  command->specimen.poisson = 0.49;
  sub.option("--poisson", command->specimen.poisson, "Poisson's ratio, which is not fitted").within(0.25, 0.49).shown();
  sub.option("--every", command->every, "Fit only every Nth row").within(1, 100).shown();
  sub.option("--from", command->from, "Fit only rows from this strain on: at first plates are not in full contact")
      .within(0.0, kMostStrain)
      .shown();
  sub.option("--up-to", command->up_to, "Fit only rows up to this strain").within(1e-3, kMostStrain).shown();
  sub.option("-o,--out", command->out, "Material to write, TOML").required();
  add_force_option(sub, command->force);
  sub.runs([command] { fit(*command); });
}

}  // namespace

void add_tissue_command(Command& program) {
  Command& tissue = program.command("tissue", "Material tests: virtual specimens, and materials from measured curves");
  add_test(tissue);
  add_fit(tissue);
}

}  // namespace trocar
