// Measures the connective tissue of a scene without instruments: how far layers part while the diaphragm breathes, and
// whether the energy of disturbed organs grows. For tests and bench/connective_tissue.cpp.
// Units: metres, seconds, newtons, joules.
#pragma once

#include "tests/sim/session/scene_tissue.hpp"

namespace trocar::test {

constexpr double kMeasuredFrame = 1.0 / 60.0;  // s

// What was seen of one layer.
struct LayerMotion {
  std::size_t fibres = 0, torn = 0;
  double farthest = 0.0;  // m  largest distance of the ends of a fibre at any time
  double change = 0.0;    // m  largest change of the vector between them after settling
  glm::vec3 where{0.f};   // m  at rest, of the fibre with this change
  double pull = 0.0;      // N  largest sum of the forces of all fibres after settling
};

struct BreathingMotion {
  std::vector<LayerMotion> layers;  // of the scene
  double moved = 0.0;               // m  motion of the first layer with the breath, along y
};

// `rest`: s before the measurement.
inline BreathingMotion breathe(const Scene& scene, double rest, double breaths) {
  SceneTissue tissue(scene);
  const SessionBonds& bonds = tissue.session_bonds();
  BreathingMotion motion{std::vector<LayerMotion>(scene.layers.size())};
  std::vector<LayerMotion>& layers = motion.layers;
  std::size_t count = 0;  // fibres of layers
  for (; count < bonds.groups().size() && bonds.groups()[count] < layers.size(); ++count)
    ++layers[bonds.groups()[count]].fibres;
  std::vector<glm::dvec3> first(count), pull;
  const auto settled = static_cast<int>(rest / kMeasuredFrame);
  const int frames = settled + static_cast<int>(breaths / double(scene.breathing.rate) / kMeasuredFrame);
  double low = INFINITY, high = -INFINITY;
  for (int frame = 0; frame < frames; ++frame) {
    tissue.step(static_cast<float>(kMeasuredFrame));
    double moved = 0.0;
    pull.assign(layers.size(), glm::dvec3(0.0));
    for (std::size_t f = 0; f < count; ++f) {
      const Fibre& fibre = bonds.bonds().fibres[f];
      const FibreEnds ends = bonds.ends(f);
      const glm::dvec3 apart = glm::dvec3(ends.b) - glm::dvec3(ends.a);
      LayerMotion& layer = layers[bonds.groups()[f]];
      layer.farthest = std::max(layer.farthest, glm::length(apart));
      if (frame == settled) first[f] = apart;
      if (const double change = glm::distance(apart, first[f]); frame > settled && change > layer.change)
        layer.change = change, layer.where = fibre.a.point;
      pull[bonds.groups()[f]] += glm::dvec3(pull_on_a(fibre, ends));
      if (bonds.groups()[f] == 0) moved += double(ends.a.y - fibre.a.point.y) / double(layers[0].fibres);
    }
    if (frame <= settled) continue;
    for (std::size_t k = 0; k < layers.size(); ++k) layers[k].pull = std::max(layers[k].pull, glm::length(pull[k]));
    low = std::min(low, moved), high = std::max(high, moved);
  }
  for (std::size_t f = 0; f < count; ++f) layers[bonds.groups()[f]].torn += !bonds.bonds().intact[f];
  motion.moved = high - low;
  return motion;
}

struct EnergyParams {
  std::size_t substeps = 100000;
  std::uint32_t seed = 1;
  double speed = 0.02;   // m/s    largest random speed along each axis
  double drag = -1.0;    // 1/s    of all organs; < 0: the scene's
  double gravity = 0.0;  // m/s^2  of all organs, downwards
  bool touching = true;  //        organs have contacts with each other
};

struct EnergyRun {
  std::size_t frames = 0, substeps = 0, grown = 0;  // grown: frames with growth
  double start = 0.0, end = 0.0, highest = 0.0;     // J  stepped energy; the highest after the start
  double growth = -INFINITY;                        // J  largest growth of the stepped energy in a frame
  double total_growth = -INFINITY;                  // J  the same of the total energy
};

// Steps the organs of the scene from a random disturbed state, without breathing; fibres do not break.
// `tell(frame, energy)`: called after every frame.
template <typename Tell>
EnergyRun run_disturbed(Scene scene, const EnergyParams& params, Tell tell) {
  scene.breathing.amplitude = 0.f;
  for (LayerScene& layer : scene.layers) layer.params.break_strain = 100.f;
  for (BandScene& band : scene.bands) band.params.break_strain = 100.f;
  for (OrganScene& organ : scene.organs) {
    if (params.drag >= 0.0) organ.tissue.drag = static_cast<float>(params.drag);
    organ.tissue.gravity = {0.f, 0.f, static_cast<float>(-params.gravity)};
  }
  SceneTissue tissue(scene, params.touching);
  std::mt19937 random(params.seed);
  tissue.disturb(static_cast<float>(params.speed), random);
  const int per_frame = tissue.substeps(static_cast<float>(kMeasuredFrame));
  const double dt = kMeasuredFrame / per_frame;
  EnergyRun run;
  OrgansEnergy energy = tissue.energy();
  double before = tissue.stepped(energy, dt), total_before = energy.total();
  run.start = before, run.highest = -INFINITY;
  for (; run.substeps < params.substeps; ++run.frames, run.substeps += static_cast<std::size_t>(per_frame)) {
    tissue.step(static_cast<float>(kMeasuredFrame));
    energy = tissue.energy();
    const double now = tissue.stepped(energy, dt);
    run.grown += now > before;
    run.growth = std::max(run.growth, now - before);
    run.total_growth = std::max(run.total_growth, energy.total() - total_before);
    run.highest = std::max(run.highest, now);
    before = now, total_before = energy.total();
    tell(run.frames, energy);
  }
  run.end = before;
  return run;
}

}  // namespace trocar::test
