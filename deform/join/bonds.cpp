#include "deform/join/bonds.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "deform/node_sum.hpp"

namespace trocar {
namespace {

// An end is embedded in a cell at least this full, relative to the fullest cell of its organ.
constexpr float kFullEnough = 0.5f;  // 1
// How far away, in cells, the centre of such a cell may be. The further the end lies outside its cell, the stiffer it
// makes the nodes.
constexpr double kFarthest = 1.75;
constexpr int kSearch = 2;                  // cells, > kFarthest
constexpr float kSquareMillimetre = 1e-6f;  // m^2
// Fibres shorter than this pull in no direction.
constexpr float kNoLength = 1e-9f;  // m

// In a duct thinner than a cell no cell is full.
float full_enough(const Lattice& lattice) {
  float most = 0.f;
  for (const LatticeCell& cell : lattice.cells) most = std::max(most, cell.fullness);
  return kFullEnough * most;
}

// Returns the nearest cell that is full enough, by the distance of its centre; the first of several. None when it is
// more than kFarthest away.
std::optional<std::uint32_t> carrier_of(const Lattice& lattice, const glm::vec3& p) {
  const glm::ivec3 home = lattice.column_of(p);
  std::optional<std::uint32_t> best;
  const double farthest = kFarthest * lattice.spacing;
  double least = farthest * farthest;
  const float least_fullness = full_enough(lattice);
  for (int z = -kSearch; z <= kSearch; ++z)
    for (int y = -kSearch; y <= kSearch; ++y)
      for (int x = -kSearch; x <= kSearch; ++x) {
        const glm::ivec3 at = home + glm::ivec3(x, y, z);
        if (at != glm::clamp(at, glm::ivec3(0), lattice.size - 1)) continue;
        const std::int32_t cell = lattice.cell_of[lattice.flat(at)];
        if (cell < 0 || lattice.cells[static_cast<std::size_t>(cell)].fullness < least_fullness) continue;
        const glm::dvec3 away = lattice.origin + lattice.spacing * (glm::dvec3(at) + 0.5) - glm::dvec3(p);
        if (glm::dot(away, away) < least) least = glm::dot(away, away), best = static_cast<std::uint32_t>(cell);
      }
  return best;
}

std::optional<BondEnd> end_in(std::uint32_t organ, std::span<const BondedOrgan> organs, const glm::vec3& p) {
  if (organ == kWall) return BondEnd{kWall, 0, {}, p};
  const Lattice& lattice = organs[organ].model->lattice;
  const std::optional<std::uint32_t> cell = carrier_of(lattice, p);
  if (!cell) return std::nullopt;
  BondEnd end{organ, *cell, {}, p};
  const glm::dvec3 at = (glm::dvec3(p) - lattice.origin) / lattice.spacing - glm::dvec3(lattice.cells[*cell].at);
  for (int corner = 0; corner < 8; ++corner) {
    const glm::dvec3 w = glm::mix(1.0 - at, at, glm::dvec3(corner_offset(corner)));
    end.weight[static_cast<std::size_t>(corner)] = static_cast<float>(w.x * w.y * w.z);
  }
  return end;
}

bool add_fibre(std::span<const BondedOrgan> organs, const glm::vec3& on_a, const glm::vec3& on_b, Fibre fibre,
               Bonds& bonds) {
  const std::optional<BondEnd> a = end_in(fibre.a.organ, organs, on_a), b = end_in(fibre.b.organ, organs, on_b);
  if (!a || !b) return false;
  fibre.a = *a;
  fibre.b = *b;
  bonds.fibres.push_back(fibre);
  bonds.intact.push_back(1);
  return true;
}

// Returns which vertices of the layer's first organ are in reach of the second.
std::vector<std::uint8_t> vertices_in_reach(const LayerParams& params, const BondedOrgan& from, const BondedOrgan& to) {
  const std::span<const glm::vec3> positions = from.mesh.positions;
  std::vector<std::uint8_t> near(positions.size());
  for (std::size_t v = 0; v < near.size(); ++v)
    near[v] = glm::distance(positions[v], params.centre) <= params.radius &&
              sample(*to.distance, positions[v]).distance <= params.reach;
  return near;
}

// Returns a third of the area, at rest, of the faces around each vertex that lie wholly in reach. [vertex] m^2
std::vector<float> joined_areas(const MeshView& mesh, std::span<const std::uint8_t> near) {
  std::vector<float> area(mesh.positions.size(), 0.f);
  for (const glm::uvec3& face : mesh.faces) {
    if (!near[face.x] || !near[face.y] || !near[face.z]) continue;
    const Triangle t = triangle_of(mesh.positions, face);
    const auto third = static_cast<float>(glm::length(glm::cross(t.b - t.a, t.c - t.a)) / 6.0);
    for (int corner = 0; corner < 3; ++corner) area[face[corner]] += third;
  }
  return area;
}

// `place`: the position of a node of an organ.
template <class Place>
FibreEnds ends_at(const Fibre& fibre, std::span<const TissueModel* const> models, Place place) {
  const auto point = [&](const BondEnd& end) {
    if (end.organ == kWall) return end.point;
    const std::array<std::uint32_t, 8>& node = models[end.organ]->lattice.cells[end.cell].node;
    return weighted_sum<glm::vec3>(node.data(), end.weight.data(), 8,
                                   [&](std::uint32_t n) { return place(end.organ, n); });
  };
  return {point(fibre.a), point(fibre.b)};
}

// Returns the ends at x + beta v with the same beta for both: the smaller one of their organs. With two different ones
// the damping matrix would not be symmetric, and a fibre would drive organs that swing together.
FibreEnds ends_ahead(const Fibre& fibre, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states) {
  const auto damping = [&](const BondEnd& end) {
    return end.organ == kWall ? INFINITY : models[end.organ]->params.damping_time;
  };
  const float a = damping(fibre.a), b = damping(fibre.b), beta = std::min(a, b);
  return ends_at(fibre, models, [&](std::uint32_t organ, std::uint32_t node) {
    const TissueScratch& s = states[organ]->scratch;
    if (models[organ]->params.damping_time == beta) return column(s.ahead, node);
    return column(s.x, node) + beta * column(s.v, node);
  });
}

void add_force(const BondEnd& end, const glm::vec3& force, std::span<const TissueModel* const> models,
               std::span<SteppedTissue* const> states) {
  if (end.organ == kWall) return;
  NodeColumns& sum = states[end.organ]->scratch.force;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t n = models[end.organ]->lattice.cells[end.cell].node[i];
    sum.x[n] += end.weight[i] * force.x, sum.y[n] += end.weight[i] * force.y, sum.z[n] += end.weight[i] * force.z;
  }
}

bool has_tissue(const BondEnd& end, std::span<const TissueModel* const> models) {
  return end.organ == kWall || models[end.organ]->lattice.cells[end.cell].fullness > 0.f;
}

}  // namespace

std::size_t add_layer(const LayerParams& params, std::uint32_t a, std::uint32_t b, std::span<const BondedOrgan> organs,
                      Bonds& bonds) {
  const MeshView& mesh = organs[a].mesh;
  const std::vector<float> area = joined_areas(mesh, vertices_in_reach(params, organs[a], organs[b]));
  const std::size_t before = bonds.fibres.size();
  for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
    if (!(area[v] > 0.f)) continue;
    const glm::vec3& p = mesh.positions[v];
    const float stiffness = params.modulus * area[v] / params.thickness;
    add_fibre(organs, p, p, {{a}, {b}, 0.f, params.thickness, stiffness, params.break_strain}, bonds);
  }
  return bonds.fibres.size() - before;
}

std::size_t add_band(const BandParams& params, std::uint32_t a, std::uint32_t b, std::span<const BondedOrgan> organs,
                     Bonds& bonds) {
  const std::size_t before = bonds.fibres.size();
  const auto strands = static_cast<float>(params.strands);
  for (int strand = 0; strand < params.strands; ++strand) {
    const float share = (static_cast<float>(strand) + 0.5f) / strands;
    const glm::vec3 from = glm::mix(params.from_start, params.from_end, share),
                    to = glm::mix(params.to_start, params.to_end, share);
    const float length = glm::distance(from, to) / (1.f + params.rest_strain);
    if (!(length > kNoLength)) continue;
    const float stiffness = params.modulus * params.section_mm2 * kSquareMillimetre / (length * strands);
    add_fibre(organs, from, to, {{a}, {b}, length, length, stiffness, params.break_strain}, bonds);
  }
  return bonds.fibres.size() - before;
}

void add_bond_forces(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, Bonds& bonds) {
  const auto add_pull = [&](const Fibre& fibre, const FibreEnds& ends) {
    const glm::vec3 pull = pull_on_a(fibre, ends);
    add_force(fibre.a, pull, models, states);
    add_force(fibre.b, -pull, models, states);
  };
  for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f) {
    if (!bonds.intact[f]) continue;
    const Fibre& fibre = bonds.fibres[f];
    const FibreEnds ends = ends_ahead(fibre, models, states);
    if (strain_of(fibre, ends) > fibre.break_strain) {
      break_fibre(f, FibreBreak::Torn, bonds);
    } else {
      add_pull(fibre, ends);
    }
  }
  for (const Fibre& strut : bonds.struts) add_pull(strut, ends_ahead(strut, models, states));
}

void break_loose_fibres(std::span<const TissueModel* const> models, Bonds& bonds) {
  for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f)
    if (!has_tissue(bonds.fibres[f].a, models) || !has_tissue(bonds.fibres[f].b, models))
      break_fibre(f, FibreBreak::Lost, bonds);
}

void break_fibre(std::uint32_t fibre, FibreBreak how, Bonds& bonds) {
  if (!bonds.intact[fibre]) return;
  bonds.intact[fibre] = 0;
  bonds.broken.push_back(fibre);
  bonds.broken_how.push_back(how);
}

FibreEnds ends_of(const Fibre& fibre, std::span<const TissueModel* const> models,
                  std::span<const SteppedTissue* const> states) {
  return ends_at(fibre, models, [&](std::uint32_t organ, std::uint32_t node) { return states[organ]->x[node]; });
}

FibreEnds ends_of(const Fibre& fibre, std::span<const TissueModel* const> models,
                  std::span<const std::vector<glm::vec3>> nodes) {
  return ends_at(fibre, models, [&](std::uint32_t organ, std::uint32_t node) { return nodes[organ][node]; });
}

glm::vec3 pull_on_a(const Fibre& fibre, const FibreEnds& ends) {
  const glm::vec3 apart = ends.b - ends.a;
  const float length = glm::length(apart);
  if (!(length > std::max(fibre.free_length, kNoLength))) return glm::vec3(0.f);
  return apart * (fibre.stiffness * (length - fibre.free_length) / length);
}

float strain_of(const Fibre& fibre, const FibreEnds& ends) {
  return (glm::distance(ends.a, ends.b) - fibre.free_length) / fibre.reference;
}

}  // namespace trocar
