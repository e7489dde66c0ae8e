#include "deform/energy.hpp"

#include <algorithm>

#include "deform/reference/energy.hpp"

namespace trocar {
namespace {

void add_organ(const TissueModel& model, const SteppedTissue& state, OrgansEnergy& energy) {
  Expansion terms;
  terms.slope.assign(state.x.size(), glm::dvec3(0.0));
  const std::vector<glm::dvec3> x(state.x.begin(), state.x.end());
  add_springs(model, x, Curvature::None, terms);
  add_volumes(model, x, Curvature::None, terms);
  add_tethers(model, x, glm::dvec3(breath(model.breathing, state.time)), terms);
  energy.elastic += terms.energy;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(model.inverse_mass[i] > 0.f)) continue;
    const double mass = model.mass[i];
    const glm::dvec3 v(state.v[i]), pull = mass * glm::dvec3(model.gravity[i]);
    energy.kinetic += 0.5 * mass * glm::dot(v, v);
    energy.weight -= glm::dot(pull, x[i] - glm::dvec3(model.rest[i]));
    terms.slope[i] -= pull;
  }
  energy.slope.push_back(std::move(terms.slope));
}

void add_slope(const BondEnd& end, const glm::dvec3& slope, std::span<const TissueModel* const> models,
               OrgansEnergy& energy) {
  if (end.organ == kWall) return;
  const std::array<std::uint32_t, 8>& node = models[end.organ]->lattice.cells[end.cell].node;
  for (std::size_t i = 0; i < node.size(); ++i)
    energy.slope[end.organ][node[i]] += static_cast<double>(end.weight[i]) * slope;
}

void add_fibre(const Fibre& fibre, std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
               OrgansEnergy& energy) {
  const FibreEnds ends = ends_of(fibre, models, states);
  const glm::dvec3 pull(pull_on_a(fibre, ends));
  energy.fibres += energy_of(fibre, ends);
  add_slope(fibre.a, -pull, models, energy);
  add_slope(fibre.b, pull, models, energy);
}

}  // namespace

double energy_of(const Fibre& fibre, const FibreEnds& ends) {
  const double stretch = std::max(static_cast<double>(glm::distance(ends.a, ends.b) - fibre.free_length), 0.0);
  return 0.5 * static_cast<double>(fibre.stiffness) * stretch * stretch;
}

OrgansEnergy energy_of(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                       const Bonds& bonds) {
  OrgansEnergy energy;
  for (std::size_t k = 0; k < models.size(); ++k) add_organ(*models[k], *states[k], energy);
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f)
    if (bonds.intact[f]) add_fibre(bonds.fibres[f], models, states, energy);
  for (const Fibre& strut : bonds.struts) add_fibre(strut, models, states, energy);
  for (std::size_t k = 0; k < models.size(); ++k)
    for (std::size_t i = 0; i < energy.slope[k].size(); ++i)
      if (!(models[k]->inverse_mass[i] > 0.f)) energy.slope[k][i] = glm::dvec3(0.0);
  return energy;
}

double stepped_energy(const OrgansEnergy& energy, std::span<SteppedTissue* const> states, double dt) {
  double sum = energy.total();
  for (std::size_t k = 0; k < states.size(); ++k)
    for (std::size_t i = 0; i < energy.slope[k].size(); ++i)
      sum -= 0.5 * dt * glm::dot(glm::dvec3(states[k]->v[i]), energy.slope[k][i]);
  return sum;
}

}  // namespace trocar
