#include "deform/tissue.hpp"

#include <fmt/format.h>

#include <cmath>

#include "deform/closed_surface.hpp"
#include "deform/lattice.hpp"
#include "deform/springs.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

void require_positive(float value, const char* name, const char* unit) {
  if (!(value > 0.f) || !std::isfinite(value))
    throw InputError(fmt::format("tissue: {} is {:g} {}; it must be a finite number above 0", name, value, unit));
}

void require_valid(const TissueParams& p) {
  require_positive(p.youngs_modulus, "youngs_modulus", "Pa");
  require_positive(p.density, "density", "kg/m^3");
  require_positive(p.node_spacing, "node_spacing", "m");
  if (!(p.damping >= 0.f && p.damping <= 1.f))
    throw InputError(fmt::format("tissue: damping is {:g}; it must lie between 0 and 1", p.damping));
  if (p.substeps < 1) throw InputError(fmt::format("tissue: substeps is {}; it must be at least 1", p.substeps));
  if (!std::isfinite(p.gravity)) throw InputError("tissue: gravity is not a finite number");
  if (!(p.drag >= 0.f) || !std::isfinite(p.drag))
    throw InputError(fmt::format("tissue: drag is {:g} 1/s; it must be a finite number, 0 or more", p.drag));
  if (!(p.friction >= 0.f) || !std::isfinite(p.friction))
    throw InputError(fmt::format("tissue: friction is {:g}; it must be a finite number, 0 or more", p.friction));
}

// Mass of each node, kg: an eighth of every cell around it by fullness, scaled so that the whole weighs as much as the
// organ.
std::vector<float> node_masses(const Lattice& lattice, double organ_mass) {
  std::vector<double> share(lattice.node_at.size());
  double total = 0.0;
  for (const LatticeCell& cell : lattice.cells) {
    total += cell.fullness;
    for (const std::uint32_t node : cell.node) share[node] += cell.fullness / 8.0;
  }
  std::vector<float> mass(share.size());
  for (std::size_t i = 0; i < mass.size(); ++i) mass[i] = static_cast<float>(organ_mass * share[i] / total);
  return mass;
}

void fix_nodes(TissueModel& model, std::span<const Attachment> attachments) {
  for (std::size_t i = 0; i < attachments.size(); ++i) {
    const Attachment& ball = attachments[i];
    require_positive(ball.radius, "the radius of an attachment", "m");
    float nearest = INFINITY;
    for (std::size_t node = 0; node < model.rest.size(); ++node) {
      const float distance = glm::distance(model.rest[node], ball.centre);
      nearest = std::min(nearest, distance);
      if (distance <= ball.radius) model.inverse_mass[node] = 0.f;
    }
    if (!(nearest <= ball.radius))
      throw InputError(fmt::format(
          "attachment {} at ({:.1f}, {:.1f}, {:.1f}) mm with radius {:g} mm fixes nothing: the nearest "
          "lattice node is {:.1f} mm away; move or enlarge it",
          i, ball.centre.x * 1e3f, ball.centre.y * 1e3f, ball.centre.z * 1e3f, ball.radius * 1e3f, nearest * 1e3f));
  }
}

// Damping of each spring, N s/m: a fraction of 2 sqrt(k m), m the reduced mass of its two nodes.
std::vector<float> spring_damping(const TissueModel& model) {
  std::vector<float> damping;
  damping.reserve(model.springs.size());
  for (const Spring& s : model.springs) {
    const float w = model.inverse_mass[s.a] + model.inverse_mass[s.b];
    damping.push_back(w > 0.f ? 2.f * model.params.damping * std::sqrt(s.stiffness / w) : 0.f);
  }
  return damping;
}

std::vector<CellRun> find_cell_runs(const std::vector<std::array<std::uint32_t, 8>>& cells) {
  std::vector<CellRun> runs;
  for (std::uint32_t i = 0; i < cells.size(); ++i) {
    const std::array<std::uint32_t, 4> row = {cells[i][0], cells[i][2], cells[i][4], cells[i][6]};
    bool follows = !runs.empty();
    for (int r = 0; r < 4 && follows; ++r) follows = row[r] == runs.back().row[r] + runs.back().count;
    if (follows)
      ++runs.back().count;
    else
      runs.push_back({i, 1, row});
  }
  return runs;
}

Embedding embed(const Lattice& lattice, const glm::vec3& vertex) {
  const glm::ivec3 at = lattice.column_of(glm::dvec3(vertex));
  const glm::dvec3 t = (glm::dvec3(vertex) - lattice.origin) / lattice.spacing - glm::dvec3(at);
  const LatticeCell& cell = lattice.cells[lattice.cell_of[lattice.flat(at)]];
  Embedding embedding;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::dvec3 w = glm::mix(1.0 - t, t, glm::dvec3(corner_offset(corner)));
    embedding.node[corner] = cell.node[corner];
    embedding.weight[corner] = static_cast<float>(w.x * w.y * w.z);
  }
  return embedding;
}

}  // namespace

TissueModel make_tissue(const MeshView& organ, const TissueParams& params, std::span<const Attachment> attachments) {
  require_valid(params);
  const double volume = closed_volume(organ);
  const Lattice lattice = make_lattice(organ, params.node_spacing);
  ColouredSprings coloured = make_springs(lattice, params.youngs_modulus);

  TissueModel model;
  model.params = params;
  for (std::uint32_t node = 0; node < lattice.node_at.size(); ++node) model.rest.push_back(lattice.position(node));
  model.mass = node_masses(lattice, params.density * volume);
  for (const float mass : model.mass) model.inverse_mass.push_back(1.f / mass);
  fix_nodes(model, attachments);
  model.springs = std::move(coloured.springs);
  model.colours = std::move(coloured.colours);
  model.runs = std::move(coloured.runs);
  for (const Spring& s : model.springs) model.stiffness.push_back(s.stiffness);
  model.damping = spring_damping(model);
  for (const LatticeCell& cell : lattice.cells) model.cells.push_back(cell.node);
  model.cell_runs = find_cell_runs(model.cells);
  for (const glm::vec3& vertex : organ.positions) model.embedding.push_back(embed(lattice, vertex));
  return model;
}

TissueState rest_state(const TissueModel& model) {
  TissueState state;
  state.x = model.rest;
  state.v.assign(model.rest.size(), glm::vec3(0.f));
  return state;
}

}  // namespace trocar
