// trocar_connective_tissue: measures the connective tissue of a scene without instruments.
//   breathing SCENE   how far the ends of the fibres of each layer move apart while the diaphragm breathes
//   energy SCENE      whether the energy of disturbed organs ever grows
//   peel SCENE OUT    force that peels the gallbladder off its bed: plot (SVG) and numbers (CSV) in the folder OUT
// Units: metres, seconds, joules; printed in millimetres.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "bench/plots.hpp"
#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"
#include "tests/sim/session/bond_measures.hpp"
#include "tests/sim/session/scene_tissue.hpp"

namespace trocar::bench {
namespace {

// Peels the gallbladder of a scene off its bed in the liver, from the fundus to the neck, at constant speed. Units:
// metres, newtons, joules, seconds.

struct PeelPoint {
  double peeled;  // m  length of the bed that has come loose, by area
  double force;   // N
};

struct GallbladderPeel {
  double length = 0.0, area = 0.0;  // m, m^2  of the bed
  double fracture_energy = 0.0;     // J/m^2   of its layer
  double work = 0.0;                // J       done on the gallbladder until the whole bed is loose
  std::vector<PeelPoint> measured;  // means of six frames
  // The steady force of peeling at a right angle: fracture energy times the width of the bed at the front, by the
  // theory of Rivlin (The effective work of adhesion, Paint Technology 9, 1944) for 1 - cos 90 degrees = 1.
  std::vector<PeelPoint> theory;
};

constexpr double kFrame = 1.0 / 60.0;  // s
constexpr double kHeld = 0.014;        // m  tissue within this distance of the fundus is held
constexpr float kLimit = 20.f;         // N  of a hold
constexpr std::size_t kMean = 6;       // frames
constexpr double kBin = 0.006;         // m  of the width

// Liver and gallbladder alone, on the bed alone, without breathing.
Scene bed_alone(Scene scene) {
  std::erase_if(scene.organs, [](const OrganScene& o) { return o.name != "liver" && o.name != "gallbladder"; });
  std::erase_if(scene.layers, [](const LayerScene& layer) { return layer.name != "bed"; });
  scene.bands.clear();
  scene.breathing.amplitude = 0.f;
  if (scene.organs.size() != 2 || scene.layers.size() != 1)
    throw InputError(scene.file.string() + ": needs the organs liver and gallbladder and the layer bed");
  return scene;
}

struct BedShape {
  glm::dvec3 fundus{0.0};          // m  the point of the gallbladder that is farthest along the bed, and up
  glm::dvec3 along{0.0}, up{0.0};  // 1  from fundus to neck; away from the liver
  double start = 0.0, length = 0.0;
};

glm::dvec3 mean_of(const std::vector<glm::vec3>& points) {
  glm::dvec3 sum(0.0);
  for (const glm::vec3& p : points) sum += glm::dvec3(p) / static_cast<double>(points.size());
  return sum;
}

// The axis of the bed is that of its two farthest fibres; the fundus is its front end.
BedShape shape_of(const std::vector<Fibre>& fibres, const std::vector<glm::vec3>& gallbladder) {
  std::vector<glm::vec3> bed;
  for (const Fibre& fibre : fibres) bed.push_back(fibre.a.point);
  BedShape shape;
  glm::dvec3 ends[2]{};
  for (const glm::vec3& p : bed)
    for (const glm::vec3& q : bed)
      if (p.z >= q.z && glm::distance(glm::dvec3(p), glm::dvec3(q)) > shape.length)
        shape.length = glm::distance(glm::dvec3(p), glm::dvec3(q)), ends[0] = p, ends[1] = q;
  shape.along = glm::normalize(ends[1] - ends[0]);
  shape.start = glm::dot(ends[0], shape.along);
  const glm::dvec3 away = mean_of(gallbladder) - mean_of(bed);
  shape.up = glm::normalize(away - glm::dot(away, shape.along) * shape.along);
  double farthest = -INFINITY;
  for (const glm::vec3& p : gallbladder)
    if (const double far = glm::dot(glm::dvec3(p), shape.up - shape.along); far > farthest)
      farthest = far, shape.fundus = p;
  return shape;
}

double area_of(const Fibre& fibre, const LayerParams& layer) {
  return static_cast<double>(fibre.stiffness * layer.thickness / layer.modulus);
}

std::vector<PeelPoint> theory_of(const std::vector<Fibre>& fibres, const LayerParams& layer, const BedShape& shape,
                                 const GallbladderPeel& peel) {
  std::vector<double> areas(static_cast<std::size_t>(shape.length / kBin) + 1, 0.0);
  for (const Fibre& fibre : fibres)
    areas[static_cast<std::size_t>((glm::dot(glm::dvec3(fibre.a.point), shape.along) - shape.start) / kBin)] +=
        area_of(fibre, layer);
  std::vector<PeelPoint> points;
  double before = 0.0;
  for (const double area : areas) {
    points.push_back({(before + 0.5 * area) / peel.area * shape.length, peel.fracture_energy * area / kBin});
    before += area;
  }
  return points;
}

// `scene`: has the organs liver and gallbladder and the layer bed. `speed`: m/s of the fundus, as far back as up.
GallbladderPeel peel_gallbladder(const Scene& whole, double speed) {
  const Scene scene = bed_alone(whole);
  test::SceneTissue tissue(scene);
  const std::size_t sac = scene.organs[0].name == "gallbladder" ? 0 : 1;
  const Organ& organ = tissue.organs()[sac];
  const LayerParams& layer = scene.layers[0].params;
  const std::vector<Fibre>& fibres = tissue.bonds().fibres;
  const BedShape shape = shape_of(fibres, organ.mesh.positions);
  GallbladderPeel peel;
  peel.length = shape.length;
  peel.fracture_energy =
      0.5 * static_cast<double>(layer.modulus * layer.thickness * layer.break_strain * layer.break_strain);
  for (const Fibre& fibre : fibres) peel.area += area_of(fibre, layer);
  peel.theory = theory_of(fibres, layer, shape, peel);
  std::vector<std::size_t> held;
  for (std::size_t v = 0; v < organ.mesh.positions.size(); ++v)
    if (glm::distance(glm::dvec3(organ.mesh.positions[v]), shape.fundus) < kHeld) held.push_back(v);
  const glm::vec3 way(shape.along + shape.up);
  double lifted = 0.0;
  PeelPoint mean{};
  for (std::size_t frame = 1; peel.area > 0.0 && lifted < 4.0 * shape.length; ++frame) {
    std::vector<std::vector<TissueHold>> holds(2);
    const auto from = static_cast<float>(lifted), to = static_cast<float>(lifted + speed * kFrame);
    for (const std::size_t v : held) {
      const glm::vec3& rest = organ.mesh.positions[v];
      holds[sac].push_back({organ.tissue.embedding[v], rest + from * way, rest + to * way, kLimit});
    }
    tissue.step(static_cast<float>(kFrame), holds);
    lifted += speed * kFrame;
    glm::vec3 force(0.f);
    for (std::size_t k = 0; k < held.size(); ++k) force -= hold_force(organ.state, k);
    peel.work += static_cast<double>(glm::dot(force, way)) * speed * kFrame;
    double loose = 0.0;
    for (std::size_t f = 0; f < fibres.size(); ++f)
      if (!tissue.bonds().intact[f]) loose += area_of(fibres[f], layer);
    mean.force += static_cast<double>(glm::length(force)) / double(kMean);
    mean.peeled += loose / peel.area * shape.length / double(kMean);
    if (frame % kMean == 0) peel.measured.push_back(mean), mean = {};
    if (loose > 0.999 * peel.area) break;
  }
  return peel;
}

struct BreathingOptions {
  std::string scene;
  double rest = 8.0, breaths = 3.0;  // s, 1
};

void measure_breathing(const BreathingOptions& options) {
  const Scene scene = load_scene(options.scene);
  const test::BreathingMotion motion = test::breathe(scene, options.rest, options.breaths);
  fmt::print("{}: {:g} s of settling, then {:g} breaths; {} moves by {:.2f} mm\n", options.scene, options.rest,
             options.breaths, scene.layers[0].name, 1e3 * motion.moved);
  for (std::size_t k = 0; k < motion.layers.size(); ++k) {
    const test::LayerMotion& layer = motion.layers[k];
    fmt::print(
        "{:26} {:3} fibres, {} torn; ends at most {:.3f} mm apart, which changes by {:.3f} mm at "
        "({:.0f}, {:.0f}, {:.0f}) mm; pull at most {:.4f} N\n",
        scene.layers[k].name, layer.fibres, layer.torn, 1e3 * layer.farthest, 1e3 * layer.change, 1e3f * layer.where.x,
        1e3f * layer.where.y, 1e3f * layer.where.z, layer.pull);
  }
}

struct EnergyOptions {
  std::string scene;
  test::EnergyParams params;
  bool apart = false;
};

void measure_energy(const EnergyOptions& options) {
  test::EnergyParams params = options.params;
  params.touching = !options.apart;
  const auto tell = [](std::size_t frame, const OrgansEnergy& energy) {
    if ((frame & (frame - 1)) == 0)
      fmt::print("frame {:5}: motion {:.3g}, tissue {:.3g}, fibres {:.3g}, weight {:.3g} J\n", frame, energy.kinetic,
                 energy.elastic, energy.fibres, energy.weight);
  };
  const test::EnergyRun run = test::run_disturbed(load_scene(options.scene), params, tell);
  fmt::print("{}: seed {}, {} substeps in {} frames\n", options.scene, params.seed, run.substeps, run.frames);
  fmt::print(
      "stepped energy {:.4g} J at first, later at most {:.4g} J, {:.4g} J in the end; {} frames with growth, at "
      "most {:.3g} J; total energy grows by at most {:.3g} J in a frame\n",
      run.start, run.highest, run.end, run.grown, run.growth, run.total_growth);
}

struct PeelOptions {
  std::string scene, out;
};

void measure_peel(const PeelOptions& options) {
  const Scene scene = load_scene(options.scene);
  LinePlot plot{.title = "The gallbladder is peeled off its bed, from the fundus to the neck",
                .x_name = "length of the bed that is loose (mm)",
                .y_name = "force (N)"};
  const auto series = [](const std::string& name, const std::vector<PeelPoint>& points, Mark mark) {
    Series line{name, {}, true, mark};
    for (const PeelPoint& point : points) line.points.emplace_back(1e3 * point.peeled, point.force);
    return line;
  };
  GallbladderPeel peel;
  for (const auto& [speed, mark] : {std::pair{0.01, Mark::Dot}, {0.03, Mark::Ring}}) {
    peel = peel_gallbladder(scene, speed);
    fmt::print(
        "{}, {:g} mm/s: bed {:.0f} mm long, {:.1f} cm^2; fracture energy {:.2f} J/m^2; work {:.4f} J, {:.2f} of "
        "the bed's {:.4f} J\n",
        options.scene, 1e3 * speed, 1e3 * peel.length, 1e4 * peel.area, peel.fracture_energy, peel.work,
        peel.work / (peel.fracture_energy * peel.area), peel.fracture_energy * peel.area);
    plot.series.push_back(series(fmt::format("measured, {:g} mm/s", 1e3 * speed), peel.measured, mark));
  }
  plot.series.push_back(series("fracture energy x width of the bed", peel.theory, Mark::None));
  plot.subtitle = fmt::format("bed {:.0f} mm long, {:.1f} cm2, fracture energy {:.1f} J/m2; means of 6 frames at 60 Hz",
                              1e3 * peel.length, 1e4 * peel.area, peel.fracture_energy);
  std::filesystem::create_directories(options.out);
  std::ofstream(options.out + "/tissue_peel_gallbladder.svg") << line_plot_svg(plot);
  std::ofstream(options.out + "/tissue_peel_gallbladder.csv") << line_plot_csv(plot);
  fmt::print("{}", line_plot_csv(plot));
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  using namespace trocar::bench;
  CLI::App app("Measurements of the connective tissue of a scene.");
  app.require_subcommand(1);
  BreathingOptions breathing;
  CLI::App* breathe = app.add_subcommand("breathing", "How far layers part while the diaphragm breathes");
  breathe->add_option("scene", breathing.scene)->required();
  breathe->add_option("--rest", breathing.rest, "s before the measurement");
  breathe->add_option("--breaths", breathing.breaths);
  breathe->callback([&] { measure_breathing(breathing); });
  EnergyOptions energy;
  CLI::App* energetic = app.add_subcommand("energy", "Whether the energy of disturbed organs grows");
  energetic->add_option("scene", energy.scene)->required();
  energetic->add_option("--substeps", energy.params.substeps);
  energetic->add_option("--seed", energy.params.seed);
  energetic->add_option("--speed", energy.params.speed, "m/s, largest random speed along each axis");
  energetic->add_option("--drag", energy.params.drag, "1/s of all organs, in place of the scene's");
  energetic->add_option("--gravity", energy.params.gravity, "m/s^2");
  energetic->add_flag("--apart", energy.apart, "without contacts between organs");
  energetic->callback([&] { measure_energy(energy); });
  PeelOptions peel;
  CLI::App* peeling = app.add_subcommand("peel", "Force that peels the gallbladder off its bed");
  peeling->add_option("scene", peel.scene)->required();
  peeling->add_option("OUT", peel.out, "folder for the plot and the numbers")->required();
  peeling->callback([&] { measure_peel(peel); });
  CLI11_PARSE(app, argc, argv);
}
