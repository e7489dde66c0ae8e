// trocar_connective_tissue: measures the connective tissue of a scene without instruments.
//   breathing SCENE   how far the ends of the fibres of each layer move apart while the diaphragm breathes
//   energy SCENE      whether the energy of disturbed organs ever grows
// Units: metres, seconds, joules; printed in millimetres.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <random>

#include "sim/scene/scene_access.hpp"
#include "tests/sim/scene_tissue.hpp"

namespace trocar::bench {
namespace {

constexpr double kFrame = 1.0 / 60.0;  // s

struct BreathingOptions {
  std::string scene;
  double settle = 8.0, breaths = 3.0;  // s, 1
};

// What was seen of one layer.
struct LayerMotion {
  std::size_t fibres = 0, torn = 0;
  double farthest = 0.0;  // m  largest distance of the ends of a fibre at any time
  double change = 0.0;    // m  largest change of the vector between them after settling
};

void measure_breathing(const BreathingOptions& options) {
  const Scene scene = load_scene(options.scene);
  test::SceneTissue tissue(scene);
  const SessionBonds& bonds = tissue.session_bonds();
  const std::size_t count = bonds.bonds().fibres.size();
  std::vector<LayerMotion> layers(scene.layers.size());
  std::vector<glm::dvec3> first(count);
  const auto settled = static_cast<int>(options.settle / kFrame);
  const int frames = settled + static_cast<int>(options.breaths / double(scene.breathing.rate) / kFrame);
  double low = 1e9, high = -1e9;
  for (int frame = 0; frame < frames; ++frame) {
    tissue.step(static_cast<float>(kFrame));
    double moved = 0.0;
    for (std::size_t f = 0; f < count && bonds.groups()[f] < layers.size(); ++f) {
      const FibreEnds ends = bonds.ends(f);
      const glm::dvec3 apart = glm::dvec3(ends.b) - glm::dvec3(ends.a);
      LayerMotion& layer = layers[bonds.groups()[f]];
      layer.farthest = std::max(layer.farthest, glm::length(apart));
      if (frame == settled) first[f] = apart;
      if (frame > settled) layer.change = std::max(layer.change, glm::distance(apart, first[f]));
      layer.fibres += frame == 0;
      layer.torn += frame + 1 == frames && !bonds.bonds().intact[f];
      if (bonds.groups()[f] == 0) moved += double(ends.a.y - bonds.bonds().fibres[f].a.point.y);
    }
    moved /= static_cast<double>(layers[0].fibres);
    if (frame > settled) low = std::min(low, moved), high = std::max(high, moved);
  }
  fmt::print("{}: {:.0f} s of settling, then {:g} breaths; the {} moves by {:.2f} mm\n", options.scene, options.settle,
             options.breaths, scene.layers[0].name, 1e3 * (high - low));
  for (std::size_t k = 0; k < layers.size(); ++k)
    fmt::print("{:26} {:4} fibres, {} torn; ends at most {:.4f} mm apart; change after settling {:.4f} mm\n",
               scene.layers[k].name, layers[k].fibres, layers[k].torn, 1e3 * layers[k].farthest, 1e3 * layers[k].change);
}

struct EnergyOptions {
  std::string scene;
  std::size_t substeps = 100000;
  std::uint32_t seed = 1;
  double speed = 0.02, drag = -1.0, gravity = 0.0;  // m/s, 1/s, m/s^2
  bool apart = false;
};

void measure_energy(const EnergyOptions& options) {
  Scene scene = load_scene(options.scene);
  scene.breathing.amplitude = 0.f;
  for (LayerScene& layer : scene.layers) layer.params.break_strain = 100.f;
  for (BandScene& band : scene.bands) band.params.break_strain = 100.f;
  for (OrganScene& organ : scene.organs) {
    if (options.drag >= 0.0) organ.tissue.drag = static_cast<float>(options.drag);
    organ.tissue.gravity = {0.f, 0.f, static_cast<float>(-options.gravity)};
  }
  test::SceneTissue tissue(scene, !options.apart);
  std::mt19937 random(options.seed);
  tissue.disturb(static_cast<float>(options.speed), random);
  const int per_frame = tissue.substeps(static_cast<float>(kFrame));
  const double dt = kFrame / per_frame;
  const std::size_t frames = options.substeps / static_cast<std::size_t>(per_frame) + 1;
  double before = tissue.stepped_energy(dt), total_before = tissue.energy().total();
  const double start = before;
  double growth = -1e9, total_growth = -1e9, sum = 0.0;
  std::size_t grown = 0, touching = 0;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    tissue.step(static_cast<float>(kFrame));
    const double now = tissue.stepped_energy(dt), total = tissue.energy().total();
    growth = std::max(growth, now - before), total_growth = std::max(total_growth, total - total_before);
    if (now > before) sum += now - before, ++grown;
    touching += tissue.contact_count() > 0;
    before = now, total_before = total;
    if ((frame & (frame - 1)) == 0) fmt::print("frame {:5}: {:.6g} J, total {:.6g} J\n", frame, now, total);
  }
  fmt::print("{}: seed {}, {} substeps in {} frames, {} with contacts\n", options.scene, options.seed,
             frames * static_cast<std::size_t>(per_frame), frames, touching);
  fmt::print("stepped energy {:.4g} J at first, {:.4g} J in the end; {} frames with growth, at most {:.3g} J, {:.3g} J "
             "in sum; total energy grows by at most {:.3g} J in a frame\n",
             start, before, grown, growth, sum, total_growth);
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
  energetic->add_option("--substeps", energy.substeps);
  energetic->add_option("--seed", energy.seed);
  energetic->add_option("--speed", energy.speed, "m/s, largest random speed along each axis");
  energetic->add_option("--drag", energy.drag, "1/s of all organs, in place of the scene's");
  energetic->add_option("--gravity", energy.gravity, "m/s^2");
  energetic->add_flag("--apart", energy.apart, "without contacts between organs");
  energetic->callback([&] { measure_energy(energy); });
  CLI11_PARSE(app, argc, argv);
}
