#include "deform/join/bonds.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/cut/slit.hpp"
#include "geometry/closest.hpp"
#include "geometry/disjoint_sets.hpp"
#include "geometry/elementary.hpp"

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

// How far away, in the distance of its nodes, a node of a sheet may be.
constexpr float kFarthestSheetNode = 1.75f;

// In a duct thinner than a cell no cell is full.
float full_enough(const Lattice& lattice) {
  float most = 0.f;
  for (const LatticeCell& cell : lattice.cells) most = std::max(most, cell.volume_fraction);
  return kFullEnough * most;
}

// visit(cell, square of the distance of its centre from p, m^2) for the cells around p, by layer, row and column.
template <class Visit>
void for_each_cell_near(const Lattice& lattice, const glm::vec3& p, Visit visit) {
  const glm::ivec3 home = lattice.column_of(p);
  for (int z = -kSearch; z <= kSearch; ++z)
    for (int y = -kSearch; y <= kSearch; ++y)
      for (int x = -kSearch; x <= kSearch; ++x) {
        const glm::ivec3 at = home + glm::ivec3(x, y, z);
        if (at != glm::clamp(at, glm::ivec3(0), lattice.size - 1)) continue;
        const std::int32_t cell = lattice.cell_of[lattice.flat(at)];
        if (cell < 0) continue;
        const glm::dvec3 away = lattice.origin + lattice.spacing * (glm::dvec3(at) + 0.5) - glm::dvec3(p);
        visit(static_cast<std::uint32_t>(cell), glm::dot(away, away));
      }
}

double farthest_square(const Lattice& lattice) {
  const double farthest = kFarthest * lattice.spacing;
  return farthest * farthest;
}

// Returns the nearest cell that is full enough, by the distance of its centre; the first of several. None when it is
// more than kFarthest away.
std::optional<std::uint32_t> carrier_of(const Lattice& lattice, const glm::vec3& p) {
  std::optional<std::uint32_t> best;
  double least = farthest_square(lattice);
  const float least_fraction = full_enough(lattice);
  for_each_cell_near(lattice, p, [&](std::uint32_t cell, double square) {
    if (lattice.cells[cell].volume_fraction < least_fraction) return;
    if (square < least) least = square, best = cell;
  });
  return best;
}

// The weights of a cell's nodes that carry a point with the least motion under a pull on it, and its admittance, 1/kg:
// sum w = 1, sum w x = p, sum w^2 / m least.
struct HeavyEnd {
  std::array<float, 8> weight{};
  double admittance = INFINITY;
};

HeavyEnd heavy_end(const TissueModel& model, const LatticeCell& cell, const glm::dvec3& p) {
  const auto lever = [&](std::size_t corner) {
    const glm::dvec3 x(model.lattice.node_at[cell.node[corner]]);
    return glm::dvec4(1.0, (model.lattice.origin - p) / model.lattice.spacing + x);
  };
  glm::dmat4 sum(0.0);
  for (std::size_t corner = 0; corner < 8; ++corner)
    sum += static_cast<double>(model.mass[cell.node[corner]]) * glm::outerProduct(lever(corner), lever(corner));
  HeavyEnd end;
  const double volume = glm::determinant(sum / sum[0][0]);
  if (!(volume > 1e-6)) return end;
  const glm::dvec4 shape = glm::inverse(sum)[0];
  end.admittance = 0.0;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const auto mass = static_cast<double>(model.mass[cell.node[corner]]);
    const double weight = mass * glm::dot(shape, lever(corner));
    end.weight[corner] = static_cast<float>(weight);
    if (mass > 0.0) end.admittance += weight * weight / mass;
  }
  return end;
}

// The rod of a tube is light and stiff: its end is carried by the heaviest cell near it, so that the organ needs no
// more substeps than without it.
std::optional<BondEnd> heaviest_end(std::uint32_t organ, const TissueModel& model, const glm::vec3& p) {
  const Lattice& lattice = model.lattice;
  std::optional<BondEnd> best;
  double least = INFINITY;
  for_each_cell_near(lattice, p, [&](std::uint32_t cell, double square) {
    if (!(square < farthest_square(lattice)) || !(lattice.cells[cell].volume_fraction > 0.f)) return;
    const HeavyEnd end = heavy_end(model, lattice.cells[cell], glm::dvec3(p));
    if (end.admittance < least)
      least = end.admittance, best = BondEnd{organ, cell, end.weight, p, lattice.cells[cell].volume_fraction};
  });
  return best;
}

// The node of a sheet, and its side, nearest to a point.
std::optional<BondEnd> end_in_sheet(std::uint32_t organ, const TissueModel& model, const glm::vec3& p) {
  const std::uint32_t nodes = 2 * model.slab.nodes();
  std::uint32_t nearest = 0;
  for (std::uint32_t n = 1; n < nodes; ++n)
    if (glm::distance(model.rest[n], p) < glm::distance(model.rest[nearest], p)) nearest = n;
  if (glm::distance(model.rest[nearest], p) > kFarthestSheetNode * static_cast<float>(model.lattice.spacing))
    return std::nullopt;
  BondEnd end{organ, nearest / 2, {}, p};
  end.weight[nearest % 2] = 1.f;
  return end;
}

std::optional<BondEnd> end_in(std::uint32_t organ, std::uint32_t other, std::span<const BondedOrgan> organs,
                              const glm::vec3& p) {
  if (organ == kWall) return BondEnd{kWall, 0, {}, p};
  const TissueModel& model = *organs[organ].model;
  if (!model.slab.empty()) return end_in_sheet(organ, model, p);
  if (model.tube.empty() && other != kWall && is_thin(*organs[other].model)) return heaviest_end(organ, model, p);
  const Lattice& lattice = model.lattice;
  const std::optional<std::uint32_t> cell = carrier_of(lattice, p);
  if (!cell) return std::nullopt;
  BondEnd end{organ, *cell, {}, p, lattice.cells[*cell].volume_fraction};
  const glm::dvec3 at = (glm::dvec3(p) - lattice.origin) / lattice.spacing - glm::dvec3(lattice.cells[*cell].at);
  for (int corner = 0; corner < 8; ++corner) {
    const glm::dvec3 w = glm::mix(1.0 - at, at, glm::dvec3(corner_offset(corner)));
    end.weight[static_cast<std::size_t>(corner)] = static_cast<float>(w.x * w.y * w.z);
  }
  return end;
}

bool add_fibre(std::span<const BondedOrgan> organs, const glm::vec3& on_a, const glm::vec3& on_b, Fibre fibre,
               Bonds& bonds) {
  const std::optional<BondEnd> a = end_in(fibre.a.organ, fibre.b.organ, organs, on_a),
                               b = end_in(fibre.b.organ, fibre.a.organ, organs, on_b);
  if (!a || !b) return false;
  const auto on_sheet = [&](const BondEnd& end) {
    return end.organ != kWall && !organs[end.organ].model->slab.empty();
  };
  if (fibre.free_length > 0.f && (on_sheet(*a) || on_sheet(*b))) {
    // A strand of a sheet ends at a node.
    const auto place = [&](const BondEnd& end) {
      const TissueModel* model = on_sheet(end) ? organs[end.organ].model : nullptr;
      return model ? model->rest[2 * end.cell + (end.weight[1] > 0.f ? 1 : 0)] : end.point;
    };
    const float scale = glm::distance(place(*a), place(*b)) / glm::distance(on_a, on_b);
    if (!(scale * fibre.free_length > kNoLength)) return false;
    fibre.free_length *= scale, fibre.reference *= scale, fibre.stiffness /= scale;
  }
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
std::vector<float> joined_areas(const TissueModel& model, const MeshView& mesh, std::span<const std::uint8_t> near) {
  // Fibres of a sheet begin on its front; the rim of the slab joins where it hangs edge on.
  const bool sheet = !model.slab.empty();
  const auto is_back = [&](const glm::uvec3& face) { return sheet && (face.x | face.y | face.z) % 2 == 0; };
  std::vector<float> area(mesh.positions.size(), 0.f);
  for (const glm::uvec3& face : mesh.faces) {
    if (is_back(face)) continue;
    if (!near[face.x] || !near[face.y] || !near[face.z]) continue;
    const Triangle t = triangle_of(mesh.positions, face);
    const auto third = static_cast<float>(glm::length(glm::cross(t.b - t.a, t.c - t.a)) / 6.0);
    for (int corner = 0; corner < 3; ++corner) area[sheet ? face[corner] | 1u : face[corner]] += third;
  }
  return area;
}

// The part of a surface that a fibre of a layer stands for.
struct JoinedPatch {
  glm::vec3 at;                            // m
  float area;                              // m^2
  std::uint32_t carrier = 0, quarter = 0;  // of a tube: its cross-section, and the side of it
};

// A fibre for each vertex. The rod of a tube has few ways to move: four fibres around each of its edges hold it as many
// do.
std::vector<JoinedPatch> joined_patches(const TissueModel& model, const MeshView& mesh, std::span<const float> area) {
  std::vector<JoinedPatch> patches;
  for (std::size_t v = 0; v < area.size(); ++v) {
    if (!(area[v] > 0.f)) continue;
    JoinedPatch patch{mesh.positions[v], area[v]};
    if (!model.tube.empty()) {
      const Embedding& e = model.embedding[v];
      const glm::vec3 side =
          weighted_sum<glm::vec3>(e.node, e.weight, 8, [&](std::uint32_t n) { return model.tube.nodes[n].local; });
      patch.carrier = model.tube.nodes[e.node[std::max_element(e.weight, e.weight + 8) - e.weight]].carrier;
      patch.quarter = (side.x > 0.f ? 1u : 0u) + (side.y > 0.f ? 2u : 0u);
      const auto known = std::ranges::find_if(
          patches, [&](const JoinedPatch& p) { return p.carrier == patch.carrier && p.quarter == patch.quarter; });
      if (known != patches.end()) {
        known->area += patch.area;
        known->at += (patch.at - known->at) * (patch.area / known->area);
        continue;
      }
    }
    patches.push_back(patch);
  }
  return patches;
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

// The damping time of a fibre, beta: the smaller one of its organs, for both ends. With two different ones the damping
// matrix would not be symmetric, and a fibre would drive organs that swing together.
float damping_of(const Fibre& fibre, std::span<const TissueModel* const> models) {
  const auto damping = [&](const BondEnd& end) {
    return end.organ == kWall ? INFINITY : models[end.organ]->params.damping_time;
  };
  return std::min(damping(fibre.a), damping(fibre.b));
}

// Returns an end at x + beta v.
glm::vec3 end_ahead(const BondEnd& end, float beta, std::span<const TissueModel* const> models,
                    std::span<SteppedTissue* const> states) {
  if (end.organ == kWall) return end.point;
  const std::uint32_t* node = models[end.organ]->lattice.cells[end.cell].node.data();
  const TissueScratch& s = states[end.organ]->scratch;
  if (models[end.organ]->params.damping_time == beta)
    return weighted_sum<glm::vec3>(node, end.weight.data(), 8, [&](std::uint32_t n) { return column(s.ahead, n); });
  return weighted_sum<glm::vec3>(node, end.weight.data(), 8,
                                 [&](std::uint32_t n) { return column(s.x, n) + beta * column(s.v, n); });
}

FibreEnds ends_ahead(const Fibre& fibre, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states) {
  const float beta = damping_of(fibre, models);
  return {end_ahead(fibre.a, beta, models, states), end_ahead(fibre.b, beta, models, states)};
}

// A fibre as one of its ends, in a tube, feels it: that end where it is, the other one ahead.
struct TubeFibre {
  glm::dvec3 at, other;  // m
  double beta;           // s
};
TubeFibre tube_fibre(const Fibre& fibre, bool at_a, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states) {
  const BondEnd &end = at_a ? fibre.a : fibre.b, &other = at_a ? fibre.b : fibre.a;
  const float beta = damping_of(fibre, models);
  const NodeColumns& x = states[end.organ]->scratch.x;
  const glm::vec3 at = weighted_sum<glm::vec3>(models[end.organ]->lattice.cells[end.cell].node.data(),
                                               end.weight.data(), 8, [&](std::uint32_t n) { return column(x, n); });
  return {at, end_ahead(other, beta, models, states), static_cast<double>(beta)};
}
float strain_of(const Fibre& fibre, const TubeFibre& ends) {
  return strain_of(fibre, FibreEnds{glm::vec3(ends.at), glm::vec3(ends.other)});
}

// The rod of a tube takes the force of a fibre, and its damping, implicitly: a spring to the other end, where that is
// now. So the organ there feels a force of positions alone, and its swing on a light rod gains and loses nothing. Two
// tubes do not know of each other's motion in the step; with twice the stiffness they do not swing up.
void add_spring(std::uint32_t number, const Fibre& fibre, const TubeFibre& ends, const TubePlace& place, float dt,
                std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states) {
  const bool at_a = number % 2 == 0;
  const BondEnd &end = at_a ? fibre.a : fibre.b, &other = at_a ? fibre.b : fibre.a;
  const glm::dvec3 apart = ends.other - ends.at;
  const double length = glm::length(apart), free = static_cast<double>(fibre.free_length);
  if (free > 0.0 && !(length > free)) return;
  const double k = static_cast<double>(fibre.stiffness), tension = free > 0.0 ? k * (length - free) / length : k;
  const glm::dvec3 along = length > 1e-9 ? apart / length : glm::dvec3(0.0);
  RodAnchor spring;
  spring.force = tension * apart;
  spring.stiffness = (k - tension) * glm::outerProduct(along, along) + tension * glm::dmat3(1.0);
  spring.stiffness *= (1.0 + ends.beta / static_cast<double>(dt)) * (on_thin(other, models) ? 2.0 : 1.0);
  SteppedTissue& state = *states[end.organ];
  const TubePoint point = point_at(place, state.tube, ends.at);
  spring.at = point.at;
  spring.source = number;
  state.scratch.tube.anchors[point.rod].push_back(spring);
}

void add_force(const BondEnd& end, const glm::vec3& force, std::span<const TissueModel* const> models,
               std::span<SteppedTissue* const> states) {
  if (end.organ == kWall || on_thin(end, models)) return;  // tubes and sheets have springs instead
  NodeColumns& sum = states[end.organ]->scratch.force;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t n = models[end.organ]->lattice.cells[end.cell].node[i];
    sum.x[n] += end.weight[i] * force.x, sum.y[n] += end.weight[i] * force.y, sum.z[n] += end.weight[i] * force.z;
  }
}

// A fibre is lost with most of the tissue that held it. The rest of a burnt cell has nodes almost without mass, which
// would need short substeps.
constexpr float kHolds = 0.4f;  // 1, of the tissue that its cell had

bool has_tissue(const BondEnd& end, std::span<const TissueModel* const> models) {
  return end.organ == kWall || models[end.organ]->lattice.cells[end.cell].volume_fraction > kHolds * end.full;
}

}  // namespace

std::size_t add_layer(const LayerParams& params, std::uint32_t a, std::uint32_t b, std::span<const BondedOrgan> organs,
                      Bonds& bonds) {
  const TissueModel& model = *organs[a].model;
  const MeshView& mesh = organs[a].mesh;
  const std::vector<float> area = joined_areas(model, mesh, vertices_in_reach(params, organs[a], organs[b]));
  const std::size_t before = bonds.fibres.size();
  for (const JoinedPatch& patch : joined_patches(model, mesh, area)) {
    const float stiffness = params.modulus * patch.area / params.thickness;
    add_fibre(organs, patch.at, patch.at, {{a}, {b}, 0.f, params.thickness, stiffness, params.break_strain}, bonds);
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

void place_fibres(std::span<const TissueModel* const> models, Bonds& bonds) {
  bonds.place.resize(2 * bonds.fibres.size());
  bonds.ends_of.resize(models.size()), bonds.torn_of.resize(models.size());
  for (std::vector<std::uint32_t>& ends : bonds.ends_of) ends.clear();
  bonds.between_tubes.clear();
  const auto place = [&](std::uint32_t f, std::uint32_t side, const BondEnd& end) {
    const TissueModel& model = *models[end.organ];
    bonds.place[2 * f + side] = place_on(model.tube, model.lattice.cells[end.cell].node, end.weight);
  };
  for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f) {
    const Fibre& fibre = bonds.fibres[f];
    if (!bonds.intact[f]) continue;
    const bool tube_a = on_tube(fibre.a, models), tube_b = on_tube(fibre.b, models);
    if (tube_a) place(f, 0, fibre.a);
    if (tube_b) place(f, 1, fibre.b);
    if (tube_a && tube_b) {
      bonds.between_tubes.push_back(f);
      continue;
    }
    // A tube returns its forces to what it hangs on; so does a sheet, whose organ only looks out for tears.
    const bool both = !tube_a && !tube_b;
    if (fibre.a.organ != kWall && (tube_a || both)) bonds.ends_of[fibre.a.organ].push_back(2 * f);
    if (fibre.b.organ != kWall && (tube_b || both)) bonds.ends_of[fibre.b.organ].push_back(2 * f + 1);
  }
  for (std::size_t k = 0; k < models.size(); ++k) bonds.torn_of[k].reserve(bonds.ends_of[k].size());
  bonds.torn.reserve(2 * bonds.fibres.size());
}

void add_common_forces(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                       Bonds& bonds) {
  bonds.torn.clear();
  for (std::vector<std::uint32_t>& torn : bonds.torn_of) torn.clear();
  for (const std::uint32_t f : bonds.between_tubes) {
    if (!bonds.intact[f]) continue;
    const Fibre& fibre = bonds.fibres[f];
    const TubeFibre from_a = tube_fibre(fibre, true, models, states), from_b = tube_fibre(fibre, false, models, states);
    if (strain_of(fibre, from_a) > fibre.break_strain) {
      bonds.torn.push_back(f);
      continue;
    }
    add_spring(2 * f, fibre, from_a, bonds.place[2 * f], dt, models, states);
    add_spring(2 * f + 1, fibre, from_b, bonds.place[2 * f + 1], dt, models, states);
  }
  for (const Fibre& strut : bonds.struts) {
    // The clips of a tube press its wall flat instead: squeeze_with_clips() (deform/tube_step.hpp).
    if (on_tube(strut.a, models)) continue;
    const glm::vec3 pull = pull_on_a(strut, ends_ahead(strut, models, states));
    add_force(strut.a, pull, models, states);
    add_force(strut.b, -pull, models, states);
  }
}

void add_bond_forces(std::uint32_t organ, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states, float dt, Bonds& bonds) {
  for (const std::uint32_t e : bonds.ends_of[organ]) {
    const std::uint32_t f = e / 2;
    if (!bonds.intact[f]) continue;
    const Fibre& fibre = bonds.fibres[f];
    const bool at_a = e % 2 == 0;
    if (on_tube(at_a ? fibre.a : fibre.b, models)) {
      const TubeFibre ends = tube_fibre(fibre, at_a, models, states);
      if (strain_of(fibre, ends) > fibre.break_strain)
        bonds.torn_of[organ].push_back(f);
      else
        add_spring(e, fibre, ends, bonds.place[e], dt, models, states);
      continue;
    }
    const FibreEnds ends = ends_ahead(fibre, models, states);
    if (strain_of(fibre, ends) > fibre.break_strain) {
      bonds.torn_of[organ].push_back(f);
    } else if (!on_sheet(fibre.a, models) && !on_sheet(fibre.b, models)) {
      const glm::vec3 pull = pull_on_a(fibre, ends);
      at_a ? add_force(fibre.a, pull, models, states) : add_force(fibre.b, -pull, models, states);
    }
  }
}

void break_torn_fibres(Bonds& bonds) {
  for (const std::vector<std::uint32_t>& torn : bonds.torn_of)
    bonds.torn.insert(bonds.torn.end(), torn.begin(), torn.end());
  std::ranges::sort(bonds.torn);
  for (const std::uint32_t f : bonds.torn) break_fibre(f, FibreBreak::Torn, bonds);  // once: the second finds it broken
}

void return_tube_forces(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                        std::span<const float> scale, const Bonds& bonds) {
  for (const SteppedTissue* state : states)
    for (const std::vector<RodAnchor>& anchors : state->scratch.tube.anchors)
      for (const RodAnchor& spring : anchors) {
        if (spring.source / 2 >= bonds.fibres.size()) continue;
        const Fibre& fibre = bonds.fibres[spring.source / 2];
        const BondEnd& end = spring.source % 2 == 0 ? fibre.b : fibre.a;
        if (end.organ != kWall) add_force(end, scale[end.organ] * glm::vec3(-spring.force), models, states);
      }
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

namespace {

template <class IsCut>
void break_where(std::span<const TissueModel* const> models, std::span<const SteppedTissue* const> states,
                 FibreBreak how, Bonds& bonds, IsCut is_cut) {
  for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f) {
    if (bonds.intact[f] && is_cut(bonds.fibres[f], ends_of(bonds.fibres[f], models, states)))
      break_fibre(f, how, bonds);
  }
}

double distance_between(const FibreEnds& ends, const HotSegment& metal) {
  const closest::Segment fibre = closest::segment(glm::dvec3(ends.a), glm::dvec3(ends.b)),
                         wire = closest::segment(glm::dvec3(metal.from), glm::dvec3(metal.to));
  return std::sqrt(closest::closest_segments(fibre, wire).squared);
}

// Is the point inside the convex outline, or within `margin` of the inner side of each of its edges?
bool in_outline(const BladeCut& cut, const glm::vec2& p, float margin) {
  for (int i = 0; i < cut.corners; ++i) {
    const glm::vec2 from = cut.outline[static_cast<std::size_t>(i)],
                    edge = cut.outline[static_cast<std::size_t>((i + 1) % cut.corners)] - from;
    const float length = glm::length(edge);
    if (!(length > 0.f)) continue;
    if (edge.x * (p.y - from.y) - edge.y * (p.x - from.x) < -margin * length) return false;
  }
  return cut.corners >= 3;
}

bool snipped(const BladeCut& cut, const Fibre& fibre, const FibreEnds& ends) {
  const glm::vec3 normal = glm::cross(cut.along, cut.across);
  const float a = glm::dot(normal, ends.a - cut.origin), b = glm::dot(normal, ends.b - cut.origin);
  if (!std::isfinite(a + b)) return false;
  const float margin = fibre.free_length > 0.f ? 0.f : 0.5f * fibre.reference;
  if (std::min(a, b) > margin || std::max(a, b) < -margin) return false;
  const float share = a == b ? 0.5f : std::clamp(a / (a - b), 0.f, 1.f);
  const glm::vec3 at = glm::mix(ends.a, ends.b, share) - cut.origin;
  return in_outline(cut, {glm::dot(at, cut.along), glm::dot(at, cut.across)}, margin);
}

}  // namespace

void burn_fibres(std::span<const HotSegment> metal, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds) {
  break_where(models, states, FibreBreak::Burnt, bonds, [&](const Fibre&, const FibreEnds& ends) {
    return std::any_of(metal.begin(), metal.end(), [&](const HotSegment& segment) {
      return distance_between(ends, segment) <= static_cast<double>(segment.radius);
    });
  });
}

void snip_fibres(const BladeCut& cut, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds) {
  break_where(models, states, FibreBreak::Cut, bonds,
              [&](const Fibre& fibre, const FibreEnds& ends) { return snipped(cut, fibre, ends); });
}

namespace {

// The node of a fibre's end with the largest weight; in a cell that a slit divides, the nodes belong to several parts.
std::uint32_t node_of(const BondEnd& end, std::span<const HangingOrgan> organs) {
  const auto heaviest = std::max_element(end.weight.begin(), end.weight.end()) - end.weight.begin();
  return organs[end.organ].model->lattice.cells[end.cell].node[static_cast<std::size_t>(heaviest)];
}

// All nodes of all organs, numbered one after the other, and one number for whatever does not fall.
class Nodes {
 public:
  explicit Nodes(std::span<const HangingOrgan> organs) : organs_(organs) {
    for (const HangingOrgan& organ : organs) first_.push_back(first_.back() + std::uint32_t(organ.model->mass.size()));
  }
  std::uint32_t count() const { return first_.back() + 1; }
  std::uint32_t ground() const { return first_.back(); }
  std::uint32_t operator()(std::size_t organ, std::uint32_t node) const { return first_[organ] + node; }
  std::uint32_t operator()(const BondEnd& end) const {
    return end.organ == kWall ? ground() : first_[end.organ] + node_of(end, organs_);
  }

 private:
  std::span<const HangingOrgan> organs_;
  std::vector<std::uint32_t> first_{0};  // [organ + 1]
};

bool was_held(const HangingOrgan& organ) { return organ.sculpture && organ.sculpture->any_held; }

std::vector<std::uint32_t> parts_of(const HangingOrgan& organ) {
  if (!organ.sculpture) return std::vector<std::uint32_t>(organ.model->mass.size(), 0);
  return node_parts(*organ.sculpture, organ.model->lattice);
}

// Joins the nodes of each part, and the parts that are fixed or tethered to the ground.
void join_parts(std::size_t k, const HangingOrgan& organ, std::span<const std::uint32_t> part, const Nodes& nodes,
                DisjointSets& sets) {
  const TissueModel& model = *organ.model;
  for (std::uint32_t node = 0; node < part.size(); ++node) {
    sets.join(nodes(k, node), nodes(k, part[node]));
    if (model.mass[node] > 0.f && model.inverse_mass[node] == 0.f) sets.join(nodes(k, node), nodes.ground());
  }
  for (const Tether& tether : model.tethers) sets.join(nodes(k, tether.node), nodes.ground());
  if (organ.sculpture && !was_held(organ) && !part.empty())
    sets.join(nodes(k, largest_part(*organ.sculpture, model.lattice, part)), nodes.ground());
}

}  // namespace

void mark_bonded(std::span<const HangingOrgan> organs, const Bonds& bonds) {
  for (const HangingOrgan& organ : organs) organ.model->bonded.assign(organ.model->mass.size(), 0);
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
    if (!bonds.intact[f]) continue;
    for (const BondEnd* end : {&bonds.fibres[f].a, &bonds.fibres[f].b})
      if (end->organ != kWall) organs[end->organ].model->bonded[node_of(*end, organs)] = 1;
  }
}

void expect_to_hang(std::span<const HangingOrgan> organs) {
  for (const HangingOrgan& organ : organs)
    if (organ.sculpture && std::ranges::count(organ.model->bonded, 1) > 0) organ.sculpture->any_held = true;
}

void release_unheld(std::span<const HangingOrgan> organs, const Bonds& bonds) {
  const Nodes nodes(organs);
  DisjointSets sets(nodes.count());
  std::vector<std::vector<std::uint32_t>> parts;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    parts.push_back(parts_of(organs[k]));
    join_parts(k, organs[k], parts[k], nodes, sets);
  }
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f)
    if (bonds.intact[f]) sets.join(nodes(bonds.fibres[f].a), nodes(bonds.fibres[f].b));
  for (const Fibre& strut : bonds.struts) sets.join(nodes(strut.a), nodes(strut.b));
  for (std::size_t k = 0; k < organs.size(); ++k) {
    if (!organs[k].sculpture) continue;
    std::vector<char> held(parts[k].size());
    for (std::uint32_t node = 0; node < held.size(); ++node)
      held[node] = sets.root(nodes(k, node)) == sets.root(nodes.ground());
    let_fall(*organs[k].sculpture, *organs[k].model, parts[k], held);
  }
}

}  // namespace trocar
