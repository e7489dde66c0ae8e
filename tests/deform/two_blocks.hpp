// Provides two blocks of tissue, one on the other, that bonds connect, and their energy. For tests. Units: metres,
// kilograms, seconds, joules.
#pragma once

#include <array>
#include <optional>

#include "deform/bonds.hpp"
#include "deform/implicit_terms.hpp"
#include "deform/organs_step.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"

namespace trocar::test {

constexpr float kFrame = 1.f / 60.f;  // s
constexpr float kSide = 0.04f;        // m  of a block

// Returns the elastic energy of a fibre.
inline double energy_of(const Fibre& fibre, const FibreEnds& ends) {
  const double stretch = std::max(static_cast<double>(glm::distance(ends.a, ends.b) - fibre.free_length), 0.0);
  return 0.5 * static_cast<double>(fibre.stiffness) * stretch * stretch;
}

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

  // Returns the energy that symplectic Euler conserves for a linear system: kinetic and elastic energy minus
  // dt / 2 v . slope. Without the last term modes near the stability limit ripple.
  double energy(double dt) const {
    // The ends of fibres in a state whose positions are the velocities move with the velocity of the ends.
    std::array<SteppedTissue, 2> velocities;
    for (std::size_t k = 0; k < 2; ++k) velocities[k].x = group_->states[k].v;
    const std::array<SteppedTissue*, 2> moving{&velocities[0], &velocities[1]};
    double sum = 0.0;
    for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
      if (!bonds.intact[f]) continue;
      const Fibre& fibre = bonds.fibres[f];
      const FibreEnds at = ends_of(fibre, group_->model_list, group_->state_list);
      const FibreEnds speed = ends_of(fibre, group_->model_list, moving);
      const glm::dvec3 pull(pull_on_a(fibre, at));
      sum += energy_of(fibre, at) + 0.5 * dt * glm::dot(glm::dvec3(speed.a - speed.b), pull);
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const TissueModel& model = group_->models[k];
      const SteppedTissue& state = group_->states[k];
      Expansion e;
      e.slope.assign(state.x.size(), glm::dvec3(0.0));
      const std::vector<glm::dvec3> x(state.x.begin(), state.x.end());
      add_springs(model, x, Curvature::None, e);
      add_volumes(model, x, Curvature::None, e);
      sum += e.energy;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const glm::dvec3 v(state.v[i]);
        sum += 0.5 * double(model.mass[i]) * glm::dot(v, v) - 0.5 * dt * glm::dot(v, e.slope[i]);
      }
    }
    return sum;
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
