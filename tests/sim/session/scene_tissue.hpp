// Holds the tissue of a scene without instruments and touch queries: organs, contacts between them, connective tissue.
// For tests and measurements of connective tissue. Units: metres, seconds, joules.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "deform/reference/energy.hpp"
#include "deform/step.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/session_joins.hpp"

namespace trocar::test {

class SceneTissue {
 public:
  // `touching` false: organs pass through each other.
  explicit SceneTissue(const Scene& scene, bool touching = true) : touching_(touching) {
    CpuBackends backends;
    for (const OrganScene& organ : scene.organs)
      organs_.push_back(make_organ(organ, scene.breathing, false, backends, "scan"));
    std::vector<MeshView> meshes;
    for (Organ& organ : organs_) {
      meshes.push_back(organ.mesh.view());
      models_.push_back(&organ.tissue);
      states_.push_back(&organ.state);
    }
    contacts_ = make_organ_contacts(meshes, models_);
    bonds_ = SessionBonds(scene, organs_, contacts_);
  }
  SceneTissue(const SceneTissue&) = delete;

  void step(float dt, const std::vector<std::vector<TissueHold>>& holds = {}) {
    bodies_.clear(), stepped_.clear();
    for (Organ& organ : organs_) bodies_.push_back({&organ.tissue, &organ.state, organ.positions, organ.unused});
    contacts_.contacts.clear();
    if (touching_) find_organ_contacts(bodies_, dt, contacts_);
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      TissueLoads loads;
      if (k < holds.size()) loads.holds = holds[k];
      stepped_.push_back({models_[k], states_[k], loads});
    }
    stepper_.step(stepped_, contacts_, bonds(), dt);
    for (Organ& organ : organs_) follow_nodes(organ);
  }

  // Returns the substeps of a frame of `dt` seconds while nothing is crushed.
  int substeps(float dt) const {
    int most = 1;
    for (std::size_t k = 0; k < models_.size(); ++k)
      most = std::max(most, substep_count(*models_[k], bonds_.bonds().slowdown[k] * dt));
    return most;
  }

  // Gives every node a random speed, at most `speed` along each axis, and every organ another of that size.
  void disturb(float speed, std::mt19937& random) {
    const auto vector = [&] {
      const auto one = [&] { return static_cast<float>(random() >> 8) / 8388608.f - 1.f; };
      const float x = one(), y = one(), z = one();
      return speed * glm::vec3(x, y, z);
    };
    for (std::size_t k = 0; k < models_.size(); ++k) {
      const glm::vec3 all = vector();
      for (std::size_t i = 0; i < states_[k]->v.size(); ++i) {
        const glm::vec3 own = vector();
        if (models_[k]->inverse_mass[i] > 0.f) states_[k]->v[i] += all + own;
      }
    }
  }

  OrgansEnergy energy() const { return energy_of(models_, states_, bonds_.bonds()); }
  // Returns the part of it that substeps of `dt` seconds conserve in a linear system.
  double stepped(const OrgansEnergy& energy, double dt) const { return stepped_energy(energy, states_, dt); }

  std::vector<Organ>& organs() { return organs_; }
  Bonds& bonds() { return bonds_.bonds(); }
  const OrganContacts& contacts() const { return contacts_; }
  const SessionBonds& session_bonds() const { return bonds_; }

 private:
  bool touching_;
  std::vector<Organ> organs_;
  std::vector<const TissueModel*> models_;  // [organ]
  std::vector<SteppedTissue*> states_;      // [organ]
  OrganContacts contacts_;
  SessionBonds bonds_;
  OrganStepper stepper_{1};
  std::vector<OrganBody> bodies_;      // [organ]
  std::vector<SteppedOrgan> stepped_;  // [organ]
};

}  // namespace trocar::test
