#include "app/commands/tissue_specimen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/commands/options.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/scene/material.hpp"

namespace trocar {
namespace {

void add_plate_options(CLI::App& command, SpecimenOptions& options) {
  CLI::Option* slip = command.add_flag("--slip", options.slip, "Plates without friction (the default)");
  command.add_flag("--stick", options.stick, "Ends keep their positions on the plates")->excludes(slip);
  CLI::Option* pull = command.add_flag("--pull", options.pull, "Pull: the ends stay on the plates");
  CLI::Option* ball =
      command.add_option("--ball", options.ball_mm, "Indent: a ball of this diameter instead of the upper plate, mm")
          ->check(within(0.1, 1e4));
  pull->excludes(ball);
}

void add_material_options(CLI::App& command, SpecimenOptions& options) {
  CLI::Option* file = command.add_option("--material", options.material, "Material: a file of trocar tissue fit");
  command.add_option("--modulus", options.modulus_kpa, "Young's modulus at small strain, kPa")
      ->check(within(1e-3, 1e6))
      ->excludes(file)
      ->capture_default_str();
  command.add_option("--poisson", options.poisson, "Poisson's ratio")
      ->check(within(0.25, 0.49))
      ->excludes(file)
      ->capture_default_str();
  command.add_option("--stiffening", options.stiffening, "Stiffening from the start; below 0 the tissue softens")
      ->check(within(kLeastStiffening, kMostStiffening))
      ->excludes(file)
      ->capture_default_str();
  command.add_option("--late-stiffening", options.late_stiffening, "Stiffening at large strain")
      ->check(within(0.0, kMostLateStiffening))
      ->excludes(file)
      ->capture_default_str();
  command.add_flag("--springs", options.springs, "The law `springs` instead of `rising`")->excludes(file);
  command.add_option("--density", options.density, "Density, kg/m^3")->check(within(1.0, 1e5))->capture_default_str();
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

}  // namespace

void add_specimen_options(CLI::App& command, SpecimenOptions& options, bool material) {
  command.add_option("--shape", options.shape, "cylinder, block, beam or mesh; the machine presses along z")
      ->check(CLI::IsMember({"cylinder", "block", "beam", "mesh"}))
      ->capture_default_str();
  command.add_option("--diameter", options.diameter_mm, "Of the cylinder, mm")
      ->check(within(0.1, 1e4))
      ->capture_default_str();
  command.add_option("--height", options.height_mm, "Of the cylinder, mm")
      ->check(within(0.1, 1e4))
      ->capture_default_str();
  command.add_option("--size", options.size_mm, "Sides X,Y,Z of the block or beam, mm")
      ->delimiter(',')
      ->expected(3)
      ->check(within(0.1, 1e4))
      ->capture_default_str();
  command.add_option("--mesh", options.mesh, "Mesh with flat ends at its lowest and highest z, in mm");
  command
      .add_option("--spacing", options.spacing_mm,
                  "Distance between the nodes, mm; without it a sixth of the smallest side")
      ->check(within(0.05, 1e3));
  command.add_option("--turn", options.turn_deg, "Turn the specimen in its lattice about y, degrees")
      ->check(within(-180.0, 180.0))
      ->capture_default_str();
  add_plate_options(command, options);
  if (material) add_material_options(command, options);
}

void refuse_contradictions(const SpecimenOptions& o) {
  if (o.shape == "mesh" && o.mesh.empty()) throw InputError("--shape mesh needs --mesh; name the file");
  if (o.shape != "mesh" && !o.mesh.empty()) throw InputError("--mesh needs --shape mesh");
  if (o.twists() && o.slip) throw InputError("--twist needs ends that stick; leave out --slip");
  if (o.twists() && (o.pull || o.ball_mm > 0.0))
    throw InputError("--twist, --pull and --ball are different tests; give one of them");
  if (o.gravity && o.pull) throw InputError("--gravity and --pull are two tests; leave one of them out");
  if (o.gravity && o.ball_mm > 0.0) throw InputError("--gravity and --ball are two tests; leave one of them out");
}

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

CurveTest test_of(const SpecimenOptions& o, double spacing) {
  CurveTest test;
  test.mesh = mesh_of(o, 0.5 * spacing);
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

}  // namespace trocar
