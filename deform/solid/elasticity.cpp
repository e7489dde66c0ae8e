#include "deform/solid/elasticity.hpp"

#include <algorithm>
#include <cmath>

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

// The least of the squared fullness in spring_fraction(): springs keep the corners of a cell from moving against each
// other, which the matrix does not resist.
constexpr float kLeastSpringFraction = 0.1f;

struct Half {
  float stiffness = 0.f;  // N/m, 0: no spring
  std::uint32_t end = 0;
};

std::array<float, 4> shares_of(const TissueParams& params) {
  return {0.f, spring_share(params, 1), spring_share(params, 2), spring_share(params, 3)};
}

float weight_of(const TissueModel& model, std::size_t cell, const glm::ivec3& from, const glm::ivec3& d) {
  if (model.centre.empty()) return 1.f;
  return spring_fraction(model.params.law, model.lattice.cells[cell].fullness) *
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
      half.stiffness += cell.fullness * share[s.axes] * weight_of(model, c, from, d);
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
    model.bulk[entry] = cells[i].fullness * modulus;
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
        if (number >= 0) sum += lattice.cells[number].fullness * share * weight_of(model, number, at - cell, d);
      }
  return sum;
}

}  // namespace

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

float shear_modulus(const TissueParams& p) { return p.youngs_modulus / (2.f * (1.f + p.poisson_ratio)); }

float spring_fraction(TissueLaw law, float fullness) {
  return law == TissueLaw::Rising ? 0.5f * std::max(fullness * fullness, kLeastSpringFraction) : 1.f;
}

// Springs give Lame's first constant mu. With the law `rising` K is Lame's first constant itself (matrix.hpp).
float volume_modulus(const TissueParams& p) {
  const float springs = p.law == TissueLaw::Rising ? 0.f : 1.f;
  return shear_modulus(p) * (2.f * p.poisson_ratio / (1.f - 2.f * p.poisson_ratio) - springs);
}

float spring_share(const TissueParams& p, int axes) {
  const float whole = shear_modulus(p) * p.node_spacing / 12.f;
  return axes == 1 ? 16.f * whole / 4.f : axes == 2 ? 8.f * whole / 2.f : 3.f * whole;
}

float spring_weight(const glm::vec3& centre, const glm::ivec3& from, const glm::ivec3& d) {
  float weight = 1.f;
  for (int k = 0; k < 3; ++k)
    if (d[k] == 0) weight *= 2.f * (from[k] == 0 ? 1.f - centre[k] : centre[k]);
  return weight;
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
    model.bulk[model.bulk_index[cell]] = lattice.cells[cell].divided ? 0.f : lattice.cells[cell].fullness * modulus;
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

}  // namespace trocar
