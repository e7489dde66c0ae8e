#include "deform/solid/tissue.hpp"

#include <fmt/format.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "deform/solid/elasticity.hpp"
#include "geometry/disjoint_sets.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "geometry/units.hpp"
#include "mesh/mesh_report.hpp"

namespace trocar {
namespace {

// The lower limit is that of springs alone. Near 1/2 tissue is incompressible and substeps become extremely short.
constexpr float kLowestPoisson = 0.25f, kHighestPoisson = 0.49f;

void require_positive(float value, const char* name, const char* unit) {
  if (!(value > 0.f) || !std::isfinite(value))
    throw InputError(fmt::format("tissue: {} is {:g} {}; it must be a finite number above 0", name, value, unit));
}

void require_at_least_0(float value, const char* name, const char* unit) {
  if (!(value >= 0.f) || !std::isfinite(value))
    throw InputError(fmt::format("tissue: {} is {:g} {}; it must be a finite number, 0 or more", name, value, unit));
}

void require_valid(const TissueParams& p) {
  require_positive(p.youngs_modulus, "youngs_modulus", "Pa");
  require_positive(p.density, "density", "kg/m^3");
  require_positive(p.node_spacing, "node_spacing", "m");
  if (!(p.poisson_ratio >= kLowestPoisson && p.poisson_ratio <= kHighestPoisson))
    throw InputError(fmt::format("tissue: poisson_ratio is {:g}; it must lie between {:g} and {:g}", p.poisson_ratio,
                                 kLowestPoisson, kHighestPoisson));
  if (!(p.stiffening >= kLeastStiffening && p.stiffening <= kMostStiffening))
    throw InputError(fmt::format("tissue: stiffening is {:g}; it must lie between {:g} and {:g}", p.stiffening,
                                 kLeastStiffening, kMostStiffening));
  if (!(p.late_stiffening >= 0.f && p.late_stiffening <= kMostLateStiffening))
    throw InputError(fmt::format("tissue: late_stiffening is {:g}; it must lie between 0 and {:g}", p.late_stiffening,
                                 kMostLateStiffening));
  if (p.substeps < 1) throw InputError(fmt::format("tissue: substeps is {}; it must be at least 1", p.substeps));
  if (!std::isfinite(glm::dot(p.gravity, p.gravity))) throw InputError("tissue: gravity is not a finite vector");
  require_at_least_0(p.damping_time, "damping_time", "s");
  require_at_least_0(p.drag, "drag", "1/s");
  require_at_least_0(p.friction, "friction", "");
}

void require_valid(const Breathing& b) {
  require_at_least_0(b.amplitude, "the amplitude of breathing", "m");
  require_at_least_0(b.rate, "the rate of breathing", "Hz");
  if (!(glm::length(b.direction) > 0.f) || !std::isfinite(glm::length(b.direction)))
    throw InputError("tissue: the direction of breathing has no length");
}

// Returns the mass of a full cell, kg, with which the lattice has the mass of the organ.
float cell_mass(const Lattice& lattice, double organ_mass) {
  double total = 0.0;
  for (const LatticeCell& cell : lattice.cells) total += cell.volume_fraction;
  return static_cast<float>(organ_mass / total);
}

// Gives each node an eighth of the mass of every cell around it; the mass of a cell is proportional to its volume
// fraction.
void add_masses(const Lattice& lattice, float cell_mass, std::span<float> mass) {
  for (const LatticeCell& cell : lattice.cells)
    for (const std::uint32_t node : cell.node) mass[node] += cell.volume_fraction * cell_mass / 8.f;
}

std::vector<std::uint32_t> nodes_within(const TissueModel& model, const Attachment& ball, std::size_t number) {
  require_positive(ball.radius, "the radius of an attachment", "m");
  require_at_least_0(ball.stiffness, "the stiffness of an attachment", "N/m");
  std::vector<std::uint32_t> nodes;
  float nearest = INFINITY;
  for (std::uint32_t node = 0; node < model.rest.size(); ++node) {
    const float distance = glm::distance(model.rest[node], ball.centre);
    nearest = std::min(nearest, distance);
    if (distance <= ball.radius) nodes.push_back(node);
  }
  if (nodes.empty())
    throw InputError(fmt::format(
        "attachment {} at ({:.1f}, {:.1f}, {:.1f}) mm with radius {:g} mm fixes nothing: the nearest "
        "lattice node is {:.1f} mm away; move or enlarge it",
        number, ball.centre.x * 1e3f, ball.centre.y * 1e3f, ball.centre.z * 1e3f, ball.radius * 1e3f, nearest * 1e3f));
  return nodes;
}

// A node in several rigid attachments belongs to the last one. A tether's share of the stiffness is proportional to its
// node's mass.
void attach(TissueModel& model, const Attachment& ball, std::size_t number) {
  const std::vector<std::uint32_t> nodes = nodes_within(model, ball, number);
  float mass = 0.f;
  for (const std::uint32_t node : nodes) mass += model.mass[node];
  for (const std::uint32_t node : nodes) {
    if (ball.stiffness > 0.f) {
      model.tethers.push_back({node, ball.stiffness * model.mass[node] / mass, ball.diaphragm});
    } else {
      model.inverse_mass[node] = 0.f;
      std::erase(model.diaphragm, node);
      if (ball.diaphragm) model.diaphragm.push_back(node);
    }
  }
}

// A tether stiffer than the lattice around it would need shorter substeps than the lattice.
double highest_frequency_with_tethers(const TissueModel& model, double lattice_frequency) {
  std::vector<double> stiffness(model.rest.size());
  for (const Tether& tether : model.tethers) stiffness[tether.node] += tether.stiffness;
  double square = 0.0;
  for (std::size_t node = 0; node < stiffness.size(); ++node)
    if (stiffness[node] > 0.0) square = std::max(square, stiffness[node] / model.mass[node]);
  return std::sqrt(lattice_frequency * lattice_frequency + square);
}

void find_longest_substep(TissueModel& model, std::span<const std::uint32_t> cells) {
  if (!model.tube.empty()) return;
  const double frequency = highest_frequency_with_tethers(model, highest_frequency(model, cells));
  model.longest_substep = std::min(model.longest_substep, longest_substep(model.params, frequency));
}

// Returns the cell that contains the point, or else the nearest.
std::uint32_t nearest_cell(const Lattice& lattice, const glm::vec3& point) {
  const std::int32_t home = lattice.cell_of[lattice.flat(lattice.column_of(glm::dvec3(point)))];
  if (home >= 0) return static_cast<std::uint32_t>(home);
  std::uint32_t nearest = 0;
  double best = INFINITY;
  for (std::uint32_t i = 0; i < lattice.cells.size(); ++i) {
    const glm::dvec3 low = lattice.origin + lattice.spacing * glm::dvec3(lattice.cells[i].at);
    const glm::dvec3 p(point), away = p - glm::clamp(p, low, low + lattice.spacing);
    if (glm::dot(away, away) < best) best = glm::dot(away, away), nearest = i;
  }
  return nearest;
}

}  // namespace

TissueModel make_tissue(const MeshView& organ, const TissueParams& params, std::span<const Attachment> attachments,
                        const Breathing& breathing) {
  require_valid(params);
  require_valid(breathing);
  const double volume = closed_volume(organ);

  TissueModel model;
  model.params = params;
  model.breathing = breathing;
  model.breathing.direction = glm::normalize(breathing.direction);
  model.lattice = make_lattice(organ, params.node_spacing);
  const auto nodes = static_cast<std::uint32_t>(model.lattice.node_at.size());
  for (std::uint32_t node = 0; node < nodes; ++node) model.rest.push_back(model.lattice.position(node));
  model.cell_mass = cell_mass(model.lattice, params.density * volume);
  model.mass.resize(nodes);
  add_masses(model.lattice, model.cell_mass, model.mass);
  for (const float mass : model.mass) model.inverse_mass.push_back(1.f / mass);
  if (params.law == TissueLaw::Rising) model.centre = centres_of(organ, model.lattice);
  make_springs(model);
  for (std::size_t i = 0; i < attachments.size(); ++i) attach(model, attachments[i], i);
  model.gravity.assign(nodes, params.gravity);
  std::vector<std::uint32_t> all(model.lattice.cells.size());
  std::iota(all.begin(), all.end(), 0u);
  model.longest_substep = INFINITY;
  find_longest_substep(model, all);
  for (const glm::vec3& vertex : organ.positions) model.embedding.push_back(embed(model.lattice, vertex));
  return model;
}

SteppedTissue rest_state(const TissueModel& model) {
  SteppedTissue state;
  state.x = model.rest;
  state.v.assign(model.rest.size(), glm::vec3(0.f));
  state.tube = rest_motion(model.tube);
  state.slab = rest_motion(model.slab);
  return state;
}

namespace {

// [node] TubeLattice::fixed
std::vector<std::uint8_t> fixed_nodes(const TissueModel& model) {
  std::vector<std::uint8_t> fixed(model.mass.size());
  for (std::size_t node = 0; node < fixed.size(); ++node)
    fixed[node] = model.mass[node] > 0.f && model.inverse_mass[node] == 0.f;
  for (const std::uint32_t node : model.diaphragm) fixed[node] = 2;
  return fixed;
}

}  // namespace

void make_tube_of(TissueModel& model, const TubeParams& params, std::span<const glm::dvec3> line) {
  model.tube = make_tube(params, line, {model.rest, model.mass, fixed_nodes(model), {}});
  model.longest_substep = kLongestTubeStep;
}

void follow_cuts(TissueModel& model, SteppedTissue& state, std::span<const std::uint32_t> part) {
  if (model.tube.empty()) return;
  rebuild_rods(model.tube, {model.rest, model.mass, fixed_nodes(model), part}, state.tube);
}

void restore_rods(TissueModel& model, std::span<const std::uint32_t> part) {
  if (!model.tube.empty()) make_rods(model.tube, {model.rest, model.mass, fixed_nodes(model), part});
}

namespace {

// Room for the nodes of cuts: a cut across a sheet takes about three for each of its faces.
constexpr std::uint32_t kLeastSpareNodes = 400;

double half_thickness(const SheetParams& sheet) { return 0.5 * std::max(sheet.thickness, kThinnestSlab); }

// A lattice node stands for its side of a node of the sheet.
Embedding whole_node(std::uint32_t node) {
  Embedding e{};
  for (std::uint32_t i = 0; i < 8; ++i) e.node[i] = node / 2 * 2 + i % 2, e.weight[i] = i == node % 2 ? 1.f : 0.f;
  return e;
}

// The cells of a sheet stand for its nodes, one after another.
void add_slab_lattice(TissueModel& model, double spacing) {
  const std::uint32_t cells = model.slab.room;
  model.lattice.spacing = spacing;
  model.lattice.size = {static_cast<int>(cells), 1, 1};
  for (std::uint32_t c = 0; c < cells; ++c) {
    LatticeCell cell{{static_cast<int>(c), 0, 0}, 0.f, {}};
    for (std::uint32_t i = 0; i < 8; ++i) cell.node[i] = 2 * c + i % 2;
    model.lattice.cells.push_back(cell);
    model.lattice.cell_of.push_back(static_cast<std::int32_t>(c));
    model.lattice.node_at.insert(model.lattice.node_at.end(), 2, cell.at);
  }
}

}  // namespace

TriangleMesh slab_surface(const SheetPatch& patch, const SheetParams& sheet) {
  const SlabModel slab = make_slab(sheet, patch.points, patch.triangles, half_thickness(sheet), 0);
  std::vector<glm::dvec3> normal;
  TriangleMesh mesh;
  mesh.positions.resize(2 * patch.points.size());
  carry_nodes(slab, rest_state(slab.sheet, slab.rest), normal,
              [&](std::uint32_t n, const glm::dvec3& x, const glm::dvec3&) { mesh.positions[n] = glm::vec3(x); });
  mesh.faces = slab_faces(slab);
  return mesh;
}

TissueModel make_sheet_tissue(const SheetPatch& patch, const SheetParams& sheet, const TissueParams& params,
                              std::span<const Attachment> attachments, const Breathing& breathing) {
  require_valid(params);
  require_valid(breathing);
  TissueModel model;
  model.params = params;
  model.params.drag = 0.f;  // the sheet has it
  model.breathing = breathing;
  model.breathing.direction = glm::normalize(breathing.direction);
  const auto nodes = static_cast<std::uint32_t>(patch.points.size());
  model.slab =
      make_slab(sheet, patch.points, patch.triangles, half_thickness(sheet), nodes + std::max(nodes, kLeastSpareNodes));
  model.rest = slab_surface(patch, sheet).positions;
  for (std::uint32_t n = 0; n < 2 * nodes; ++n) {
    model.mass.push_back(static_cast<float>(0.5 * model.slab.sheet.mass[n / 2]));
    model.inverse_mass.push_back(1.f / model.mass.back());
    model.cell_mass += 2.f * model.mass.back() / static_cast<float>(nodes);
  }
  for (std::size_t i = 0; i < attachments.size(); ++i) attach(model, attachments[i], i);
  for (std::uint32_t k = 0; k < nodes; ++k) {
    if (model.inverse_mass[2 * k] > 0.f && model.inverse_mass[2 * k + 1] > 0.f) continue;
    const bool moves = std::ranges::count_if(model.diaphragm, [k](std::uint32_t n) { return n / 2 == k; }) > 0;
    model.slab.fixed.push_back({k, moves});
    model.slab.sheet.fixed[k] = 1;
  }
  const std::size_t all = 2 * std::size_t{model.slab.room};
  model.rest.resize(all, model.rest.front());
  model.mass.resize(all, 0.f), model.inverse_mass.resize(all, 0.f);
  model.gravity.assign(all, params.gravity);
  double edges = 0.0;
  for (const auto& [a, b] : model.slab.sheet.edges) edges += glm::distance(model.slab.rest[a], model.slab.rest[b]);
  add_slab_lattice(model, edges / static_cast<double>(model.slab.sheet.edges.size()));
  model.longest_substep = kLongestSheetStep;
  follow_sheet(model);
  return model;
}

TissueModel make_rigid_tissue(const MeshView& surface) {
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const glm::vec3& p : surface.positions) low = glm::min(low, p), high = glm::max(high, p);
  const glm::dvec3 size = glm::dvec3(high) - glm::dvec3(low);
  TissueModel model;
  model.rigid = true;
  model.lattice.origin = low;
  model.lattice.spacing = std::max({size.x, size.y, size.z});
  if (!(model.lattice.spacing > 0.0) || !std::isfinite(model.lattice.spacing))
    throw InputError("the surface of a rigid body has no size");
  model.lattice.size = glm::ivec3(1);
  LatticeCell cell{{0, 0, 0}, 1.f, {}};
  for (std::uint32_t k = 0; k < 8; ++k) {
    cell.node[k] = k;
    model.lattice.node_at.push_back(corner_offset(static_cast<int>(k)));
    model.rest.push_back(model.lattice.position(k));
  }
  model.lattice.cells = {cell};
  model.lattice.cell_of = {0};
  model.params.node_spacing = static_cast<float>(model.lattice.spacing);
  model.mass.assign(8, 0.f), model.inverse_mass.assign(8, 0.f);
  model.gravity.assign(8, glm::vec3(0.f));
  model.longest_substep = 1.f;
  for (const glm::vec3& p : surface.positions) model.embedding.push_back(embed_in(model.lattice, 0, p));
  return model;
}

void follow_sheet(TissueModel& model) {
  const SheetModel& sheet = model.slab.sheet;
  std::vector<glm::dvec3> normal;
  find_normals(model.slab, model.slab.rest, normal);
  model.diaphragm.clear();
  for (const SlabFixed& fixed : model.slab.fixed)
    if (fixed.diaphragm) model.diaphragm.push_back(2 * fixed.node), model.diaphragm.push_back(2 * fixed.node + 1);
  const auto known = static_cast<std::uint32_t>(model.embedding.size());
  for (std::uint32_t k = 0; k < model.slab.nodes(); ++k)
    for (const std::uint32_t n : {2 * k, 2 * k + 1}) {
      const double side = n % 2 == 0 ? -model.slab.half : model.slab.half;
      if (n >= known) {
        model.embedding.push_back(whole_node(n));
        model.rest[n] = glm::vec3(model.slab.rest[k] + side * normal[k]);
        model.lattice.cells[k].volume_fraction = 1.f;
      }
      model.mass[n] = static_cast<float>(0.5 * sheet.mass[k]);
      model.inverse_mass[n] = sheet.mass[k] > 0.0 && !sheet.fixed[k] ? 1.f / model.mass[n] : 0.f;
      if (!(sheet.mass[k] > 0.0)) model.lattice.cells[k].volume_fraction = 0.f;
    }
  std::erase_if(model.tethers, [&](const Tether& tether) { return !(model.mass[tether.node] > 0.f); });
}

void carry_sheet(const TissueModel& model, SteppedTissue& state) {
  carry_nodes(model.slab, state.slab.sheet, state.scratch.slab.normal,
              [&](std::uint32_t n, const glm::dvec3& x, const glm::dvec3& v) {
                state.x[n] = glm::vec3(x), state.v[n] = glm::vec3(v);
              });
}

std::size_t spring_count(const TissueModel& model) {
  return static_cast<std::size_t>(
      std::count_if(model.stiffness.begin(), model.stiffness.end(), [](float k) { return k > 0.f; }));
}

glm::vec3 breath(const Breathing& b, double time) {
  const double phase = 0.5 - 0.5 * elementary::cos(kFullTurn * b.rate * time);
  return b.amplitude * static_cast<float>(phase) * b.direction;
}

void set_volume_fractions(TissueModel& model, std::span<const std::uint32_t> cells,
                          std::span<const float> volume_fraction) {
  // Masses are summed again instead of subtracted, so that rounding leaves no mass when the last tissue is removed.
  std::vector<std::uint32_t> nodes, around;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    LatticeCell& cell = model.lattice.cells[cells[i]];
    cell.volume_fraction = volume_fraction[i] > 0.f ? std::max(volume_fraction[i], kEmptiestCell) : 0.f;
    if (!model.centre.empty()) model.centre[cells[i]] = glm::vec3(0.5f);
    nodes.insert(nodes.end(), cell.node.begin(), cell.node.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const std::uint32_t node : nodes) {
    float mass = 0.f;
    for (int corner = 0; corner < 8; ++corner) {
      const glm::ivec3 at = model.lattice.node_at[node] - corner_offset(corner);
      if (glm::any(glm::lessThan(at, glm::ivec3(0))) || glm::any(glm::greaterThanEqual(at, model.lattice.size)))
        continue;
      const std::int32_t cell = model.lattice.cell_of[model.lattice.flat(at)];
      if (cell < 0 || !(model.lattice.cells[cell].volume_fraction > 0.f)) continue;
      mass += model.lattice.cells[cell].volume_fraction * model.cell_mass / 8.f;
      around.push_back(static_cast<std::uint32_t>(cell));
    }
    model.mass[node] = mass;
    if (model.inverse_mass[node] > 0.f) model.inverse_mass[node] = mass > 0.f ? 1.f / mass : 0.f;
    if (!(mass > 0.f)) model.gravity[node] = glm::vec3(0.f);
  }
  std::erase_if(model.tethers, [&](const Tether& tether) { return !(model.mass[tether.node] > 0.f); });
  refresh_springs(model, cells);
  std::sort(around.begin(), around.end());
  around.erase(std::unique(around.begin(), around.end()), around.end());
  find_longest_substep(model, around);
}

Embedding embed(const Lattice& lattice, const glm::vec3& point) {
  return embed_in(lattice, nearest_cell(lattice, point), point);
}

Embedding embed_in(const Lattice& lattice, std::uint32_t cell, const glm::vec3& point) {
  const LatticeCell& home = lattice.cells[cell];
  const glm::dvec3 t = (glm::dvec3(point) - lattice.origin) / lattice.spacing - glm::dvec3(home.at);
  Embedding embedding;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::dvec3 w = glm::mix(1.0 - t, t, glm::dvec3(corner_offset(corner)));
    embedding.node[corner] = home.node[corner];
    embedding.weight[corner] = static_cast<float>(w.x * w.y * w.z);
  }
  return embedding;
}

// Moves the surface with the lattice: once per frame, every vertex becomes the weighted sum of eight nodes. The same
// loop computes the bounding box, while each position is in a register.

namespace {

[[gnu::always_inline]] inline void store_vertex(glm::vec3& vertex, __m128 p) {
  _mm_storel_pi(reinterpret_cast<__m64*>(&vertex.x), p);
  _mm_store_ss(&vertex.z, _mm_movehl_ps(p, p));
}

[[gnu::always_inline]] inline PositionBox embed_all(const TissueModel& model, std::span<const glm::vec3> nodes,
                                                    std::span<glm::vec3> positions) {
  __m128 low = _mm_set1_ps(INFINITY), high = _mm_set1_ps(-INFINITY);
  const std::size_t count = std::min(positions.size(), model.embedding.size());
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    const Embedding& e = model.embedding[vertex];
    // Two neighbours along x are six floats: x y z of the first in lanes 0 to 2, of the second in lanes 1 to 3.
    __m128 first = _mm_setzero_ps(), second = _mm_setzero_ps();
    for (int i = 0; i < 8; i += 2) {
      const float* p = &nodes[e.node[i]].x;
      first = _mm_add_ps(first, _mm_mul_ps(_mm_set1_ps(e.weight[i]), _mm_loadu_ps(p)));
      second = _mm_add_ps(second, _mm_mul_ps(_mm_set1_ps(e.weight[i + 1]), _mm_loadu_ps(p + 2)));
    }
    const __m128 p = _mm_add_ps(first, _mm_shuffle_ps(second, second, _MM_SHUFFLE(3, 3, 2, 1)));
    store_vertex(positions[vertex], p);
    low = _mm_min_ps(p, low), high = _mm_max_ps(p, high);
  }
  PositionBox box;
  store_vertex(box.low, low), store_vertex(box.high, high);
  return box;
}

// This is the same code compiled for AVX2, where one instruction broadcasts a weight to a register.
[[gnu::target("avx2")]] PositionBox embed_avx2(const TissueModel& model, std::span<const glm::vec3> nodes,
                                               std::span<glm::vec3> positions) {
  return embed_all(model, nodes, positions);
}

}  // namespace

PositionBox embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions) {
  static const bool avx2 = instructions() >= Instructions::Avx2;
  return avx2 ? embed_avx2(model, nodes, positions) : embed_all(model, nodes, positions);
}

PositionBox embed_surface_plainly(const TissueModel& model, std::span<const glm::vec3> nodes,
                                  std::span<glm::vec3> positions) {
  PositionBox box;
  const std::size_t count = std::min(positions.size(), model.embedding.size());
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    const Embedding& e = model.embedding[vertex];
    glm::vec3 first(0.f), second(0.f);
    for (int i = 0; i < 8; i += 2) {
      first += e.weight[i] * nodes[e.node[i]];
      second += e.weight[i + 1] * nodes[e.node[i + 1]];
    }
    positions[vertex] = first + second;
    box.low = glm::min(box.low, positions[vertex]), box.high = glm::max(box.high, positions[vertex]);
  }
  return box;
}

namespace {

constexpr float kWhole = 0.999f;

// Counts the connected components of the nodes; springs connect them.
std::size_t count_pieces(const TissueModel& model) {
  DisjointSets nodes(model.rest.size());
  for_each_spring(model, [&](const Spring& s) { nodes.join(s.a, s.b); });
  std::size_t pieces = 0;
  for (std::uint32_t node = 0; node < model.rest.size(); ++node) pieces += nodes.root(node) == node ? 1 : 0;
  return pieces;
}

// Lengths of unbroken runs of cells along each axis.
std::vector<int> run_lengths(const Lattice& lattice) {
  std::vector<int> lengths;
  for (int axis = 0; axis < 3; ++axis) {
    glm::ivec3 step(0);
    step[axis] = 1;
    const auto has = [&](const glm::ivec3& at) {
      return at[axis] >= 0 && at[axis] < lattice.size[axis] && lattice.cell_of[lattice.flat(at)] >= 0;
    };
    for (const LatticeCell& cell : lattice.cells) {
      if (has(cell.at - step)) continue;
      int length = 1;
      for (glm::ivec3 at = cell.at + step; has(at); at += step) ++length;
      lengths.push_back(length);
    }
  }
  return lengths;
}

}  // namespace

LatticeReport lattice_report(const TissueModel& model, std::span<const glm::vec3> rest_vertices) {
  LatticeReport report;
  report.cells = model.lattice.cells.size();
  report.nodes = model.rest.size();
  report.springs = spring_count(model);
  const double cell_volume = model.lattice.spacing * model.lattice.spacing * model.lattice.spacing;
  for (const LatticeCell& cell : model.lattice.cells) {
    report.whole += (cell.volume_fraction > kWhole ? 1.0 : 0.0) / static_cast<double>(report.cells);
    report.volume += cell.volume_fraction * cell_volume;
  }
  for (const float mass : model.mass) report.mass += mass;
  report.organ_volume = report.mass / model.params.density;
  report.pieces = count_pieces(model);
  std::vector<int> lengths = run_lengths(model.lattice);
  std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2, lengths.end());
  report.cells_across = lengths[lengths.size() / 2];
  std::vector<glm::vec3> embedded(rest_vertices.size());
  embed_surface(model, model.rest, embedded);
  for (std::size_t v = 0; v < rest_vertices.size(); ++v)
    report.worst_embedding = std::max(report.worst_embedding, double(glm::distance(embedded[v], rest_vertices[v])));
  report.longest_substep = model.longest_substep;
  report.substeps_per_frame = substep_count(model, 1.f / 60.f);
  return report;
}

}  // namespace trocar
