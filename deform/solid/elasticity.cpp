#include "deform/solid/elasticity.hpp"

#include <algorithm>
#include <cmath>

#include "deform/solid/elastic_forces.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Half of the 26 neighbours: the spring belongs to its first node, the other end always has a higher index.
constexpr std::array<std::array<int, 3>, kSpringDirections> kDirection = {{{1, 0, 0},
                                                                           {0, 1, 0},
                                                                           {0, 0, 1},
                                                                           {1, 1, 0},
                                                                           {-1, 1, 0},
                                                                           {1, 0, 1},
                                                                           {-1, 0, 1},
                                                                           {0, 1, 1},
                                                                           {0, -1, 1},
                                                                           {1, 1, 1},
                                                                           {-1, 1, 1},
                                                                           {1, -1, 1},
                                                                           {-1, -1, 1}}};

int axes_of(int direction) {
  const auto& d = kDirection[direction];
  return std::abs(d[0]) + std::abs(d[1]) + std::abs(d[2]);
}

int direction_between(int from, int to) {
  const glm::ivec3 d = corner_offset(to) - corner_offset(from);
  for (int i = 0; i < kSpringDirections; ++i)
    if (d == glm::ivec3(kDirection[i][0], kDirection[i][1], kDirection[i][2])) return i;
  return -1;
}

// The 28 springs of a cell between its corners.
struct CellSpring {
  int from, to;         // corners
  int direction, axes;  // 0 .. kSpringDirections - 1; 1 edge, 2 face diagonal, 3 body diagonal
};
const std::array<CellSpring, 28>& cell_springs() {
  static const std::array<CellSpring, 28> springs = [] {
    std::array<CellSpring, 28> list{};
    std::size_t count = 0;
    for (int from = 0; from < 8; ++from)
      for (int to = 0; to < 8; ++to)
        if (const int direction = direction_between(from, to); direction >= 0)
          list[count++] = {from, to, direction, axes_of(direction)};
    return list;
  }();
  return springs;
}

// The least of the volume fraction in spring_fraction(): springs keep the corners of a cell from moving against each
// other, which the matrix does not resist.
constexpr float kLeastSpringFraction = 0.1f;

struct Half {
  float stiffness = 0.f;  // N/m, 0: no spring
  std::uint32_t end = 0;
};

std::array<float, 4> shares_of(const TissueParams& params) {
  return {0.f, spring_share(params, 1), spring_share(params, 2), spring_share(params, 3)};
}

// Returns the factor of a spring's share in a cell whose tissue has its centroid at `centre` (0..1): parallel springs
// share the stiffness so that its centroid is the same. `from`: corner offset of its first node, `d`: its direction.
float spring_weight(const glm::vec3& centre, const glm::ivec3& from, const glm::ivec3& d) {
  float weight = 1.f;
  for (int k = 0; k < 3; ++k)
    if (d[k] == 0) weight *= 2.f * (from[k] == 0 ? 1.f - centre[k] : centre[k]);
  return weight;
}

float weight_of(const TissueModel& model, std::size_t cell, const glm::ivec3& from, const glm::ivec3& d) {
  if (model.centre.empty()) return 1.f;
  return spring_fraction(model.params.law, model.lattice.cells[cell].volume_fraction) *
         spring_weight(model.centre[cell], from, d);
}

// [node * kSpringDirections + direction]
std::vector<Half> gather_halves(const TissueModel& model) {
  const Lattice& lattice = model.lattice;
  const std::array<float, 4> share = shares_of(model.params);
  std::vector<Half> halves(lattice.node_at.size() * kSpringDirections);
  for (std::size_t c = 0; c < lattice.cells.size(); ++c)
    for (const CellSpring& s : cell_springs()) {
      const LatticeCell& cell = lattice.cells[c];
      const glm::ivec3 from = corner_offset(s.from), d = corner_offset(s.to) - from;
      Half& half = halves[cell.node[s.from] * kSpringDirections + s.direction];
      half.stiffness += cell.volume_fraction * share[s.axes] * weight_of(model, c, from, d);
      half.end = cell.node[s.to];
    }
  return halves;
}

std::uint32_t whole_registers(std::size_t count) {
  return static_cast<std::uint32_t>((count + kLanes - 1) / kLanes * kLanes);
}

// Directions grouped by their x component 0, +1, -1: springs of one group that begin at the same node end in different
// rows. kNoDirection fills shorter groups.
constexpr int kMostInGroup = 5, kNoDirection = -1;
constexpr std::array<std::array<int, kMostInGroup>, 3> kGroup = {
    {{1, 2, 7, 8, kNoDirection}, {0, 3, 5, 9, 11}, {4, 6, 10, 12, kNoDirection}}};

// Differences of node indices between the two ends of a group's springs; 0: no spring.
using Offsets = std::array<std::uint32_t, kMostInGroup>;

// Consecutive nodes along x with the springs of one group, which have the same differences of node indices.
struct FoundRows {
  int group;
  std::uint32_t a, count;
  Offsets offsets;

  // Rows of consecutive springs need an empty last entry.
  std::uint32_t entries() const {
    const bool along = std::find(offsets.begin(), offsets.end(), 1u) != offsets.end();
    return whole_registers(count + (along ? 1 : 0));
  }
};

Offsets offsets_of(const std::vector<Half>& halves, std::uint32_t node, int group) {
  Offsets offsets{};
  for (int i = 0; i < kMostInGroup; ++i) {
    if (kGroup[group][i] == kNoDirection) continue;
    const Half& half = halves[node * kSpringDirections + kGroup[group][i]];
    if (half.stiffness > 0.f) offsets[i] = half.end - node;
  }
  return offsets;
}

// Appends `node`, the next along x, to `rows`; false when one of its springs does not continue a row.
bool take(FoundRows& rows, const Offsets& offsets, std::size_t nodes) {
  FoundRows longer = rows;
  ++longer.count;
  for (int i = 0; i < kMostInGroup; ++i) {
    if (offsets[i] != 0 && longer.offsets[i] != 0 && offsets[i] != longer.offsets[i]) return false;
    longer.offsets[i] = std::max(longer.offsets[i], offsets[i]);
  }
  // Padding entries are read and written too, so they must stay within the padding after the last node.
  const std::uint32_t farthest = *std::max_element(longer.offsets.begin(), longer.offsets.end());
  if (longer.a + farthest + longer.entries() > nodes + kLanes) return false;
  rows = longer;
  return true;
}

std::vector<FoundRows> find_rows(const Lattice& lattice, const std::vector<Half>& halves) {
  std::vector<FoundRows> found;
  for (int group = 0; group < static_cast<int>(kGroup.size()); ++group) {
    bool follows = false;
    for (std::uint32_t node = 0; node < lattice.node_at.size(); ++node) {
      const Offsets offsets = offsets_of(halves, node, group);
      follows = follows && lattice.node_at[node] == lattice.node_at[node - 1] + glm::ivec3(1, 0, 0);
      const bool any = offsets != Offsets{};
      if (any && !(follows && take(found.back(), offsets, lattice.node_at.size())))
        found.push_back({group, node, 1, offsets});
      follows = any;
    }
  }
  return found;
}

// Layer by layer, so that a large organ's nodes stay in the cache. Within a group no two consecutive rows have ends
// that are adjacent in memory: the end of one store would delay the next load.
void sort_for_cache(const Lattice& lattice, std::vector<FoundRows>& rows) {
  const auto key = [&](const FoundRows& row) {
    const glm::ivec3& at = lattice.node_at[row.a];
    return std::array<int, 3>{at.z, row.group, at.y % 4};
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const FoundRows& a, const FoundRows& b) { return key(a) < key(b); });
}

void make_spring_rows(TissueModel& model) {
  const std::vector<Half> halves = gather_halves(model);
  std::vector<FoundRows> found = find_rows(model.lattice, halves);
  sort_for_cache(model.lattice, found);
  for (const FoundRows& rows : found)
    for (int i = 0; i < kMostInGroup; ++i) {
      if (rows.offsets[i] == 0) continue;
      const int direction = kGroup[rows.group][i];
      const auto first = static_cast<std::uint32_t>(model.stiffness.size());
      const auto length = static_cast<float>(model.lattice.spacing * std::sqrt(axes_of(direction)));
      model.spring_rows.push_back({first, rows.entries(), rows.a, rows.a + rows.offsets[i], length});
      for (std::uint32_t j = 0; j < rows.count; ++j)
        model.stiffness.push_back(halves[(rows.a + j) * kSpringDirections + direction].stiffness);
      model.stiffness.resize(first + rows.entries(), 0.f);
    }
}

// The loop needs an empty last entry in each row.
void make_cell_rows(TissueModel& model) {
  const float modulus = volume_modulus(model.params);
  const std::vector<LatticeCell>& cells = model.lattice.cells;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& node = cells[i].node;
    const bool follows = i > 0 && cells[i].at == cells[i - 1].at + glm::ivec3(1, 0, 0);
    if (!follows) {
      model.bulk.resize(whole_registers(model.bulk.size()), 0.f);
      model.cell_rows.push_back(
          {static_cast<std::uint32_t>(model.bulk.size()), 0, {node[0], node[2], node[4], node[6]}});
    }
    CellRow& row = model.cell_rows.back();
    const std::uint32_t entry = follows ? model.bulk_index.back() + 1 : row.first;
    row.count = whole_registers(entry - row.first + 2);
    model.bulk.resize(row.first + row.count, 0.f);
    model.bulk[entry] = cells[i].volume_fraction * modulus;
    model.bulk_index.push_back(entry);
  }
}

// The cells around a spring are those with both of its ends; `at` is its first node, `d` its direction.
float stiffness_around(const TissueModel& model, const glm::ivec3& at, const glm::ivec3& d, float share) {
  const Lattice& lattice = model.lattice;
  float sum = 0.f;
  glm::ivec3 low, high;
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = at[axis] - (d[axis] <= 0 ? 1 : 0);
    high[axis] = at[axis] - (d[axis] < 0 ? 1 : 0);
  }
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) {
        const glm::ivec3 cell(x, y, z);
        if (glm::any(glm::lessThan(cell, glm::ivec3(0))) || glm::any(glm::greaterThanEqual(cell, lattice.size)))
          continue;
        const std::int32_t number = lattice.cell_of[lattice.flat(cell)];
        if (number >= 0) sum += lattice.cells[number].volume_fraction * share * weight_of(model, number, at - cell, d);
      }
  return sum;
}

}  // namespace

float shear_modulus(const TissueParams& p) { return p.youngs_modulus / (2.f * (1.f + p.poisson_ratio)); }

float spring_fraction(TissueLaw law, float volume_fraction) {
  return law == TissueLaw::Rising ? 0.5f * std::max(volume_fraction, kLeastSpringFraction) : 1.f;
}

// Springs give Lame's first constant mu. With the law `rising` K is Lame's first constant itself.
float volume_modulus(const TissueParams& p) {
  const float springs = p.law == TissueLaw::Rising ? 0.f : 1.f;
  return shear_modulus(p) * (2.f * p.poisson_ratio / (1.f - 2.f * p.poisson_ratio) - springs);
}

float spring_share(const TissueParams& p, int axes) {
  const float whole = shear_modulus(p) * p.node_spacing / 12.f;
  return axes == 1 ? 16.f * whole / 4.f : axes == 2 ? 8.f * whole / 2.f : 3.f * whole;
}

void make_springs(TissueModel& model) {
  make_spring_rows(model);
  make_cell_rows(model);
}

void refresh_springs(TissueModel& model, std::span<const std::uint32_t> cells) {
  const Lattice& lattice = model.lattice;
  const std::array<float, 4> share = shares_of(model.params);
  const float modulus = volume_modulus(model.params);
  std::vector<char> touched(model.rest.size() + kLanes, 0);
  for (const std::uint32_t cell : cells) {
    model.bulk[model.bulk_index[cell]] =
        lattice.cells[cell].divided ? 0.f : lattice.cells[cell].volume_fraction * modulus;
    for (const std::uint32_t node : lattice.cells[cell].node) touched[node] = 1;
  }
  for (const SpringRow& row : model.spring_rows)
    for (std::uint32_t i = 0; i < row.count; ++i) {
      float& stiffness = model.stiffness[row.first + i];
      if (!touched[row.a + i] || !(stiffness > 0.f)) continue;
      const glm::ivec3& at = lattice.node_at[row.a + i];
      const glm::ivec3 d = lattice.node_at[row.b + i] - at;
      stiffness = stiffness_around(model, at, d, share[std::abs(d.x) + std::abs(d.y) + std::abs(d.z)]);
    }
}

namespace {

using glm::vec3;

// Below this the series of the energy is exact to rounding, and the closed form loses digits.
constexpr double kSmallRise = 1e-3;  // 1, of s q

vec3 at(const NodeColumns& x, std::uint32_t node) { return {x.x[node], x.y[node], x.z[node]}; }

// The edges of a cell over the spacing, and the sides between them.
struct CellShape {
  vec3 a, b, c;     // 1
  vec3 bc, ca, ab;  // 1
  float volume;     // 1, J
  float q;          // 1, see elasticity.hpp
  float sides;      // 1, sum of the squared areas of the mean sides over that at rest
};

CellShape shape_of(const CellGradient& edges, const NodeColumns& x, float per_spacing) {
  CellShape s{};
  const vec3 first = at(x, edges.node[0]);
  const auto add = [&](std::size_t i) {
    const vec3 p = per_spacing * (at(x, edges.node[i]) - first), &weight = edges.weight[i];
    s.a += weight.x * p, s.b += weight.y * p, s.c += weight.z * p;
  };
  for (std::size_t i = 1; i < 8; ++i) add(i);  // unrolled: most cells have no more
  for (std::size_t i = 8; i < edges.count; ++i) add(i);
  s.bc = glm::cross(s.b, s.c), s.ca = glm::cross(s.c, s.a), s.ab = glm::cross(s.a, s.b);
  s.volume = glm::dot(s.a, s.bc);
  s.q = glm::dot(s.a, s.a) + glm::dot(s.b, s.b) + glm::dot(s.c, s.c) - 3.f - 2.f * (s.volume - 1.f);
  s.sides = (glm::dot(s.bc, s.bc) + glm::dot(s.ca, s.ca) + glm::dot(s.ab, s.ab)) / 3.f;
  return s;
}

// Moduli of the matrix of a cell over its volume modulus K, 1: shear, and what it adds to K.
struct Portion {
  float shear, swell;
};
Portion portion_of(const TissueParams& p, float volume_fraction) {
  const float fraction = spring_fraction(p.law, volume_fraction), ratio = shear_modulus(p) / volume_modulus(p);
  return {(1.f - fraction) * ratio, (1.f - 2.f * fraction) * ratio};
}

void push(NodeColumns& force, std::uint32_t node, const vec3& f) {
  force.x[node] += f.x, force.y[node] += f.y, force.z[node] += f.z;
}

Rise early_rise(double s, double q) {
  const double z = s * q;
  if (q <= 0.0 || s == 0.0) return {q, 1.0, 0.0};
  if (s < 0.0) {
    const double slope = 1.0 / (1.0 - z);
    const double energy =
        -z < kSmallRise ? q * (1.0 + z / 2.0 + z * z / 3.0 + z * z * z / 4.0) : elementary::log(1.0 - z) / -s;
    return {energy, slope, s * slope * slope};
  }
  if (z < kSmallRise) {
    const double slope = elementary::exp(z);
    return {q * (1.0 + z / 2.0 + z * z / 6.0 + z * z * z / 24.0), slope, s * slope};
  }
  const double slope = elementary::exp(std::min(z, kMostRise)), end = (slope - 1.0) / s;
  if (z <= kMostRise) return {end, slope, s * slope};
  return {end + slope * (q - kMostRise / s), slope, 0.0};
}

}  // namespace

Rise rise_of(double stiffening, double late_stiffening, double q) {
  Rise rise = early_rise(stiffening, q);
  if (q <= 0.0 || late_stiffening == 0.0) return rise;
  const double r = late_stiffening, last = std::sqrt(kMostLateRise / r), end = std::min(q, last);
  rise.energy += r * end * end * (q - 2.0 / 3.0 * end);
  rise.slope += r * end * end;
  if (q < last) rise.second += 2.0 * r * q;
  return rise;
}

std::vector<vec3> centres_of(const MeshView& organ, const Lattice& lattice) {
  constexpr int kParts = 4;  // along each side
  Lattice fine;
  fine.spacing = lattice.spacing / kParts;
  fine.size = kParts * lattice.size;
  fine.origin = lattice.origin;
  const std::vector<float> share = measure_volume_fractions(organ, fine);
  std::vector<vec3> centres;
  for (const LatticeCell& cell : lattice.cells) {
    vec3 sum(0.f);
    float whole = 0.f;
    for (int z = 0; z < kParts; ++z)
      for (int y = 0; y < kParts; ++y)
        for (int x = 0; x < kParts; ++x) {
          const float part = share[fine.flat(kParts * cell.at + glm::ivec3(x, y, z))];
          whole += part, sum += part * (vec3(x, y, z) + 0.5f);
        }
    const vec3 centre = whole > 0.f ? sum / (whole * kParts) : vec3(0.5f);
    centres.push_back(glm::clamp(centre, kCentreMargin, 1.f - kCentreMargin));
  }
  return centres;
}

namespace {

// A neighbour with a smaller part in an edge is left out.
constexpr float kLeastPart = 0.005f;

}  // namespace

CellGradient cell_gradient(const TissueModel& model, std::size_t cell) {
  const Lattice& lattice = model.lattice;
  const LatticeCell& own = lattice.cells[cell];
  const vec3 centre = model.centre[cell];
  CellGradient edges;
  for (int i = 0; i < 8; ++i) {
    const vec3 high(corner_offset(i)), weight = (1.f - high) * (1.f - centre) + high * centre, sign = 2.f * high - 1.f;
    edges.node[i] = own.node[i];
    edges.weight[i] = sign * vec3(weight.y * weight.z, weight.z * weight.x, weight.x * weight.y);
  }
  for (int k = 0; k < 3; ++k) {
    const float part = std::abs(centre[k] - 0.5f);
    if (part < kLeastPart) continue;
    glm::ivec3 at = own.at;
    at[k] += centre[k] > 0.5f ? 1 : -1;
    if (at[k] < 0 || at[k] >= lattice.size[k]) continue;
    const std::int32_t beside = lattice.cell_of[lattice.flat(at)];
    if (beside < 0 || !(model.bulk[model.bulk_index[beside]] > 0.f)) continue;
    for (int i = 0; i < 8; ++i) {
      const float whole = edges.weight[i][k];
      const bool between = (i >> k & 1) == (centre[k] > 0.5f ? 1 : 0);  // on the side that the two cells share
      edges.weight[i][k] = (between ? 1.f - 2.f * part : 1.f - part) * whole;
      if (!between) continue;
      edges.node[edges.count] = lattice.cells[beside].node[i];
      edges.weight[edges.count] = vec3(0.f);
      edges.weight[edges.count++][k] = part * whole;
    }
  }
  return edges;
}

void add_matrix_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  const float h = model.params.node_spacing;
  const TissueParams& params = model.params;
  for (std::size_t i = 0; i < model.lattice.cells.size(); ++i) {
    const float bulk = model.bulk[model.bulk_index[i]];
    if (!(bulk > 0.f)) continue;
    const CellGradient edges = cell_gradient(model, i);
    const CellShape s = shape_of(edges, x, 1.f / h);
    const Portion portion = portion_of(model.params, model.lattice.cells[i].volume_fraction);
    const float unit = bulk * h * h;
    const float stretch =
        unit * portion.shear * static_cast<float>(rise_of(params.stiffening, params.late_stiffening, s.q).slope);
    const float swell = std::min(std::max(s.volume - 1.f, -kMostShrink), kMostSwell);
    const float press = (unit * (1.f + portion.swell) * swell - stretch) / std::max(s.sides / kLargestRisingSides, 1.f);
    const vec3 fa = stretch * s.a + press * s.bc, fb = stretch * s.b + press * s.ca, fc = stretch * s.c + press * s.ab;
    const auto add = [&](std::size_t k) {
      push(force, edges.node[k], -(edges.weight[k].x * fa + edges.weight[k].y * fb + edges.weight[k].z * fc));
    };
    for (std::size_t k = 0; k < 8; ++k) add(k);
    for (std::size_t k = 8; k < edges.count; ++k) add(k);
  }
}

// The second derivative of psi along the unit gradient G of q is bounded by slope (2 + |G|^2 s), that of the volume
// term by the sides.
float stiffest_cell(const TissueModel& model, const NodeColumns& x) {
  const float h = model.params.node_spacing;
  const TissueParams& params = model.params;
  float most = 1.f;
  for (std::size_t i = 0; i < model.lattice.cells.size(); ++i) {
    if (!(model.bulk[model.bulk_index[i]] > 0.f)) continue;
    const CellShape s = shape_of(cell_gradient(model, i), x, 1.f / h);
    const Rise rise = rise_of(params.stiffening, params.late_stiffening, s.q);
    const vec3 a = s.a - s.bc, b = s.b - s.ca, c = s.c - s.ab;
    const double square = glm::dot(a, a) + glm::dot(b, b) + glm::dot(c, c);
    const auto stretch = static_cast<float>(rise.slope + 2.0 * std::max(rise.second, 0.0) * square);
    most = std::max({most, stretch, std::min(s.sides, kLargestRisingSides)});
  }
  return most;
}

namespace {

// Adds K u of the matrix and the volume of one cell at rest to f, N.
void add_matrix_cell(const TissueModel& model, std::uint32_t cell, std::span<const std::uint32_t> number,
                     std::span<const glm::dvec3> u, std::span<glm::dvec3> f) {
  const TissueParams& params = model.params;
  const CellGradient edges = cell_gradient(model, cell);
  glm::dmat3 gradient(0.0);  // h times that of the displacement: column k is the change of edge k
  for (std::size_t i = 0; i < edges.count; ++i)
    if (const std::uint32_t n = number[edges.node[i]]; n != kNoNumber)
      for (int k = 0; k < 3; ++k) gradient[k] += static_cast<double>(edges.weight[i][k]) * u[n];
  const double trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
  const float volume_fraction = model.lattice.cells[cell].volume_fraction;
  const double unit = static_cast<double>(volume_fraction) * params.node_spacing;
  const Portion portion = portion_of(params, volume_fraction);
  const double bulk = unit * volume_modulus(params), shear = portion.shear * bulk;
  const glm::dmat3 stress =
      shear * (gradient + glm::transpose(gradient)) + (bulk * (1.0 + portion.swell) - shear) * trace * glm::dmat3(1.0);
  for (std::size_t i = 0; i < edges.count; ++i)
    if (const std::uint32_t n = number[edges.node[i]]; n != kNoNumber)
      for (int k = 0; k < 3; ++k) f[n] += static_cast<double>(edges.weight[i][k]) * stress[k];
}

constexpr int kStabilityRounds = 80;
constexpr double kShare = 0.8;  // fraction used of the limit 4 in longest_substep()

// Displacements of the nodes of `cells`, scaled by the square root of their mass, and the nodes themselves.
struct Piece {
  std::vector<std::uint32_t> nodes;   // sorted
  std::vector<std::uint32_t> number;  // [node of the model] into nodes
  std::vector<double> scale;          // [node] 1 / sqrt(mass)
};

Piece piece_of(const TissueModel& model, std::span<const std::uint32_t> cells) {
  Piece piece;
  for (const std::uint32_t cell : cells)
    for (const std::uint32_t node : model.lattice.cells[cell].node) piece.nodes.push_back(node);
  std::sort(piece.nodes.begin(), piece.nodes.end());
  piece.nodes.erase(std::unique(piece.nodes.begin(), piece.nodes.end()), piece.nodes.end());
  piece.number.assign(model.rest.size(), kNoNumber);
  for (std::uint32_t n = 0; n < piece.nodes.size(); ++n) piece.number[piece.nodes[n]] = n;
  for (const std::uint32_t node : piece.nodes)
    piece.scale.push_back(model.mass[node] > 0.f ? 1.0 / std::sqrt(static_cast<double>(model.mass[node])) : 0.0);
  return piece;
}

double length_of(std::span<const glm::dvec3> u) {
  double square = 0.0;
  for (const glm::dvec3& v : u) square += glm::dot(v, v);
  return std::sqrt(square);
}

}  // namespace

void add_rest_stiffness(const TissueModel& model, std::uint32_t cell, std::span<const std::uint32_t> number,
                        std::span<const glm::dvec3> u, std::span<glm::dvec3> f) {
  const TissueParams& params = model.params;
  const bool rising = params.law == TissueLaw::Rising;
  const double volume_fraction = model.lattice.cells[cell].volume_fraction;
  const double fraction = spring_fraction(params.law, model.lattice.cells[cell].volume_fraction);
  const std::array<double, 4> share = {0.0, spring_share(params, 1), spring_share(params, 2), spring_share(params, 3)};
  std::array<std::uint32_t, 8> corners;
  for (int i = 0; i < 8; ++i) corners[i] = number[model.lattice.cells[cell].node[i]];
  for (const CellSpring& s : cell_springs()) {
    const glm::ivec3 along = corner_offset(s.to) - corner_offset(s.from);
    const glm::dvec3 d(along);
    const double part = rising ? fraction * spring_weight(model.centre[cell], corner_offset(s.from), along) : 1.0;
    const glm::dvec3 pull =
        part * volume_fraction * share[s.axes] / s.axes * glm::dot(u[corners[s.to]] - u[corners[s.from]], d) * d;
    f[corners[s.from]] -= pull, f[corners[s.to]] += pull;
  }
  if (rising) return add_matrix_cell(model, cell, number, u, f);
  double swell = 0.0;  // h times the change of J
  for (int i = 0; i < 8; ++i) swell += 0.25 * glm::dot(u[corners[i]], glm::dvec3(2 * corner_offset(i) - 1));
  const double push = volume_fraction * volume_modulus(params) * params.node_spacing * swell / 4.0;
  for (int i = 0; i < 8; ++i) f[corners[i]] += push * glm::dvec3(2 * corner_offset(i) - 1);
}

double highest_frequency(const TissueModel& model, std::span<const std::uint32_t> cells) {
  const Piece piece = piece_of(model, cells);
  std::vector<glm::dvec3> u(piece.nodes.size()), scaled(u.size()), f(u.size());
  // An initial vector that is not orthogonal to any mode: neighbours move against each other, with small differences.
  for (std::size_t i = 0; i < u.size(); ++i) {
    const glm::ivec3 at = model.lattice.node_at[piece.nodes[i]];
    const double a = 12.9898 * at.x + 78.233 * at.y + 37.719 * at.z;
    u[i] = glm::dvec3(at.x & 1 ? 1 : -1, at.y & 1 ? 1 : -1, at.z & 1 ? 1 : -1) +
           glm::dvec3(elementary::sin(a), elementary::sin(2.0 * a), elementary::sin(3.0 * a));
  }
  double rate = 0.0;
  for (int iteration = 0; iteration < kStabilityRounds; ++iteration) {
    const double length = length_of(u);
    if (!(length > 0.0)) return 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) scaled[i] = piece.scale[i] / length * u[i];
    std::fill(f.begin(), f.end(), glm::dvec3(0.0));
    for (const std::uint32_t cell : cells) add_rest_stiffness(model, cell, piece.number, scaled, f);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = piece.scale[i] * f[i];
    rate = length_of(u);
  }
  return std::sqrt(rate);
}

float longest_substep(const TissueParams& params, double frequency) {
  const double beta = params.damping_time;
  if (!(frequency > 0.0)) return INFINITY;
  return static_cast<float>(std::sqrt(beta * beta + 4.0 * kShare / (frequency * frequency)) - beta);
}

}  // namespace trocar
