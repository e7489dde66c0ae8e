// trocar_connective_tissue: measures the connective tissue of a scene without instruments.
//   breathing SCENE   how far the ends of the fibres of each layer move apart while the diaphragm breathes
//   energy SCENE      whether the energy of disturbed organs ever grows
//   peel SCENE OUT    force that peels the gallbladder off its bed: plot (SVG) and numbers (CSV) in the folder OUT
// Units: metres, seconds, joules; printed in millimetres.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "bench/gallbladder_peel.hpp"
#include "bench/line_plot.hpp"
#include "sim/scene/scene_access.hpp"
#include "tests/sim/bond_measures.hpp"

namespace trocar::bench {
namespace {

struct BreathingOptions {
  std::string scene;
  double settle = 8.0, breaths = 3.0;  // s, 1
};

void measure_breathing(const BreathingOptions& options) {
  const Scene scene = load_scene(options.scene);
  const test::BreathingMotion motion = test::breathe(scene, options.settle, options.breaths);
  fmt::print("{}: {:g} s of settling, then {:g} breaths; {} moves by {:.2f} mm\n", options.scene, options.settle,
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
  breathe->add_option("--settle", breathing.settle, "s before the measurement");
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
