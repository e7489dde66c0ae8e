// Peels a strip of soft tissue off a bed: a layer joins them, and the strip's free end is lifted at a steady speed, at
// a right angle. For tests and for the plot of peel force. Units: metres, newtons, seconds.
#pragma once

#include <algorithm>
#include <vector>

#include "deform/join/bonds.hpp"
#include "deform/step.hpp"
#include "tests/deform/organ_group.hpp"

namespace trocar::test {

struct PeelParams {
  float length = 0.12f, width = 0.02f;  // m    of the bed
  float speed = 0.03f;                  // m/s  of the lifted end
  float rate = 60.f;                    // Hz
  float spacing = 0.002f;               // m    of the fibres
  float bed_modulus = 6e3f;             // Pa
};

struct PeelStep {
  double lifted, bonded;  // m  how far the end is lifted; length of the bed that is still joined
  double force;           // N  with which the end is held
  double work;            // J  done on it so far
};

// The joined length and the force after each frame, until nothing is joined or the end is lifted by three lengths.
class Peel {
 public:
  explicit Peel(const PeelParams& params) : params_(params), group_(meshes(params), models(params)) {
    for (std::size_t k = 0; k < 2; ++k)
      organs_.push_back({&group_.models[k], group_.meshes[k].view(), &group_.contacts.field[k]});
    layer_.reach = 1e-4f;
    fibres_ = add_layer(layer_, 1, 0, organs_, bonds_);
    measure_slowdown(group_.model_list, bonds_);
    for (std::size_t v = 0; v < group_.meshes[1].positions.size(); ++v)
      if (group_.meshes[1].positions[v].x > params.length + 0.5f * kFree) held_.push_back(v);
  }

  // Work per area that breaks the layer, J/m^2.
  double fracture_energy() const {
    return 0.5 * double(layer_.modulus * layer_.thickness * layer_.break_strain * layer_.break_strain);
  }

  std::vector<PeelStep> run() {
    OrganStepper stepper(1);
    OrganContacts none;
    std::vector<PeelStep> steps;
    const float dt = 1.f / params_.rate;
    float lifted = 0.f;
    double work = 0.0;
    while (bonds_.broken.size() < fibres_ && lifted < 3.f * params_.length) {
      std::vector<TissueHold> holds;
      for (const std::size_t v : held_) {
        const glm::vec3 at = group_.meshes[1].positions[v] + lifted * kWay;
        holds.push_back({group_.models[1].embedding[v], at, at + params_.speed * dt * kWay, 10.f});
      }
      const SteppedOrgan stepped[] = {{&group_.models[0], &group_.states[0], {}},
                                      {&group_.models[1], &group_.states[1], {{}, {}, holds}}};
      stepper.step(stepped, none, bonds_, dt);
      lifted += params_.speed * dt;
      glm::vec3 force(0.f);
      for (std::size_t k = 0; k < holds.size(); ++k) force -= hold_force(group_.states[1], k);
      work += double(glm::dot(force, kWay) * params_.speed * dt);
      const double share = 1.0 - double(bonds_.broken.size()) / double(fibres_);
      steps.push_back({double(lifted), share * double(params_.length), double(glm::length(force)), work});
    }
    return steps;
  }

 private:
  // The end moves back as far as up, so that it stays above the front and the angle is about 90 degrees.
  static constexpr glm::vec3 kWay{-1.f, 0.f, 1.f};
  static constexpr float kBed = 0.012f, kStrip = 0.006f, kFree = 0.012f;  // m  thickness, free end

  static std::vector<TriangleMesh> meshes(const PeelParams& p) {
    return {fine_block({0.f, 0.f, -kBed}, {p.length, p.width, kBed}, p.spacing),
            fine_block({0.f, 0.f, 0.f}, {p.length + kFree, p.width, kStrip}, p.spacing)};
  }
  static std::vector<TissueModel> models(const PeelParams& p) {
    const std::vector<TriangleMesh> made = meshes(p);
    TissueParams bed, strip;
    bed.node_spacing = strip.node_spacing = 0.004f;
    bed.youngs_modulus = p.bed_modulus;
    strip.youngs_modulus = 2e4f;
    std::vector<TissueModel> models{make_tissue(made[0].view(), bed, {}), make_tissue(made[1].view(), strip, {})};
    for (std::size_t i = 0; i < models[0].rest.size(); ++i)
      if (models[0].rest[i].z < -0.5f * kBed) models[0].inverse_mass[i] = 0.f;
    return models;
  }

  PeelParams params_;
  OrganGroup group_;
  std::vector<BondedOrgan> organs_;
  LayerParams layer_;
  Bonds bonds_;
  std::size_t fibres_ = 0;
  std::vector<std::size_t> held_;
};

// Of the steady middle of a peel, in which a quarter to three quarters of the bed are joined.
struct SteadyPeel {
  double force;  // N     mean
  double work;   // J/m^2 for each area that comes loose
};
inline SteadyPeel steady_part(std::span<const PeelStep> steps, const PeelParams& params) {
  double force = 0.0, count = 0.0;
  const PeelStep *first = nullptr, *last = nullptr;
  for (const PeelStep& step : steps) {
    if (!(step.bonded > 0.25 * double(params.length) && step.bonded < 0.75 * double(params.length))) continue;
    if (!first) first = &step;
    last = &step;
    force += step.force, count += 1.0;
  }
  if (!first || first == last) return {};
  return {force / count, (last->work - first->work) / ((first->bonded - last->bonded) * double(params.width))};
}

}  // namespace trocar::test
