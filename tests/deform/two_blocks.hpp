// Provides two blocks of tissue, one on the other, that bonds connect, and their energy. For tests. Units: metres,
// kilograms, seconds, joules.
#pragma once

#include <optional>

#include "deform/join/bonds.hpp"
#include "deform/reference/energy.hpp"
#include "deform/step.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"

namespace trocar::test {

constexpr float kFrame = 1.f / 60.f;  // s
constexpr float kSide = 0.04f;        // m  of a block

// Tissue without damping.
inline TissueParams floating() {
  TissueParams params;
  params.drag = 0.f;
  params.damping_time = 0.f;
  return params;
}

// Two blocks, the second on the first, with a common face of 40 x 40 mm at z = 40 mm.
class TwoBlocks {
 public:
  explicit TwoBlocks(const TissueParams& params, const glm::vec3& size = glm::vec3(kSide), float overlap = 0.f) {
    std::vector<TriangleMesh> meshes;
    std::vector<TissueModel> models;
    for (int k = 0; k < 2; ++k) {
      meshes.push_back(fine_block({0.f, 0.f, (size.z - overlap) * float(k)}, size, 0.004f));
      models.push_back(make_tissue(meshes.back().view(), params, {}));
    }
    group_.emplace(std::move(meshes), std::move(models));
    for (std::size_t k = 0; k < 2; ++k)
      organs_.push_back({&group_->models[k], group_->meshes[k].view(), &group_->contacts.field[k]});
  }

  OrganGroup& group() { return *group_; }
  std::span<const BondedOrgan> organs() const { return organs_; }
  Bonds bonds;

  // One step of `dt` seconds with bonds and without contacts.
  void step(float dt, OrganStepper& stepper) {
    if (bonds.slowdown.empty()) measure_slowdown(group_->model_list, bonds);
    std::vector<SteppedOrgan> stepped;
    for (std::size_t k = 0; k < 2; ++k) stepped.push_back({&group_->models[k], &group_->states[k], {}});
    OrganContacts none;
    stepper.step(stepped, none, bonds, dt);
  }

  // Breaks what is stretched too far in the present state.
  void break_stretched() {
    for (std::size_t k = 0; k < 2; ++k) begin_step(group_->models[k], group_->states[k], {});
    add_bond_forces(group_->model_list, group_->state_list, bonds);
  }

  glm::dvec3 pull_on_second() const {
    glm::dvec3 sum(0.0);
    for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
      if (!bonds.intact[f]) continue;
      const glm::dvec3 pull(
          pull_on_a(bonds.fibres[f], ends_of(bonds.fibres[f], group_->model_list, group_->state_list)));
      sum += bonds.fibres[f].a.organ == 1 ? pull : -pull;
    }
    return sum;
  }

  // Returns the energy that substeps of `dt` seconds conserve for a linear system.
  double energy(double dt) const {
    return stepped_energy(energy_of(group_->model_list, group_->state_list, bonds), group_->state_list, dt);
  }

 private:
  std::optional<OrganGroup> group_;
  std::vector<BondedOrgan> organs_;
};

inline LayerParams second_on_first() {
  LayerParams params;
  params.reach = 1e-4f;
  return params;
}

inline void shift(SteppedTissue& state, const glm::vec3& by) {
  for (glm::vec3& x : state.x) x += by;
}

}  // namespace trocar::test
