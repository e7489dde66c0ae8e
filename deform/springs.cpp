#include "deform/springs.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr int kDirections = 13;

// Half of the 26 neighbours: the spring belongs to its first node, the other end always has a higher number.
constexpr std::array<std::array<int, 3>, kDirections> kDirection = {{{1, 0, 0},
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

int direction_between(const glm::ivec3& from, const glm::ivec3& to) {
  const glm::ivec3 d = to - from;
  for (int i = 0; i < kDirections; ++i)
    if (d == glm::ivec3(kDirection[i][0], kDirection[i][1], kDirection[i][2])) return i;
  return -1;
}

// What one full cell adds to a spring, N/m: an edge is shared by four cells, a face diagonal by two.
double share_of_cell(int axes, double youngs_modulus, double spacing) {
  const double thirtieth = youngs_modulus * spacing / 30.0;
  return axes == 1 ? 16.0 * thirtieth / 4.0 : axes == 2 ? 8.0 * thirtieth / 2.0 : 3.0 * thirtieth;
}

struct Half {
  double stiffness = 0.0;  // N/m, 0: no spring
  std::uint32_t end = 0;
};

// [node * kDirections + direction]
std::vector<Half> gather_halves(const Lattice& lattice, double youngs_modulus) {
  std::vector<Half> halves(lattice.node_at.size() * kDirections);
  for (const LatticeCell& cell : lattice.cells)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        const int direction = direction_between(corner_offset(i), corner_offset(j));
        if (direction < 0) continue;
        Half& half = halves[cell.node[i] * kDirections + direction];
        half.stiffness += cell.fullness * share_of_cell(axes_of(direction), youngs_modulus, lattice.spacing);
        half.end = cell.node[j];
      }
  return halves;
}

// The springs that begin in one layer, and reach within it or to the next, form a slab. Slabs of even layers share no
// node with each other, nor do those of odd layers: phase 0 and phase 1.
int phase_of(const glm::ivec3& at) { return at.z & 1; }

// Within a slab, springs of one direction inside the layer share no node when they begin in every second row (or
// column).
int parity_of(const glm::ivec3& at, int direction) {
  const auto& d = kDirection[direction];
  return d[2] ? 0 : d[1] ? at.y & 1 : at.x & 1;
}

void append_colour(const Lattice& lattice, const std::vector<Half>& halves, int phase, int direction, int parity,
                   ColouredSprings& result) {
  const auto first = static_cast<std::uint32_t>(result.springs.size());
  const auto length = static_cast<float>(lattice.spacing * std::sqrt(axes_of(direction)));
  for (std::uint32_t node = 0; node < lattice.node_at.size(); ++node) {
    const Half& half = halves[node * kDirections + direction];
    const glm::ivec3& at = lattice.node_at[node];
    if (half.stiffness > 0.0 && phase_of(at) == phase && parity_of(at, direction) == parity)
      result.springs.push_back({node, half.end, length, static_cast<float>(half.stiffness)});
  }
  if (result.springs.size() > first) result.colours.push_back(first);
}

// Longest runs of springs of one colour that step through the nodes together.
std::vector<SpringRun> find_runs(std::span<const Spring> springs, std::span<const std::uint32_t> colours) {
  std::vector<SpringRun> runs;
  for (std::size_t colour = 0; colour + 1 < colours.size(); ++colour) {
    const std::uint32_t end = colours[colour + 1];
    for (std::uint32_t i = colours[colour]; i < end; i += runs.back().count) {
      const Spring& s = springs[i];
      const std::uint32_t stride = s.b == s.a + 1 ? 2 : 1;
      std::uint32_t count = 1;
      while (i + count < end && springs[i + count].a == s.a + count * stride &&
             springs[i + count].b == s.b + count * stride)
        ++count;
      runs.push_back({i, count, s.a, s.b, stride, s.rest_length});
    }
  }
  return runs;
}

// Slab by slab, so that its two layers of nodes stay in the nearest cache while all its springs pass; and within a
// colour never two rows running that lie side by side in memory, where the end of one store would hold up the next
// load.
void sort_for_cache(const Lattice& lattice, std::span<const std::uint32_t> colours, std::vector<SpringRun>& runs) {
  const auto key = [&](const SpringRun& run) {
    const glm::ivec3& at = lattice.node_at[run.a];
    const auto colour = std::upper_bound(colours.begin(), colours.end(), run.first) - colours.begin();
    return std::array<int, 4>{phase_of(at), at.z, static_cast<int>(colour), 2 * (at.y & 1) + (at.y >> 1 & 1)};
  };
  std::stable_sort(runs.begin(), runs.end(), [&](const SpringRun& a, const SpringRun& b) { return key(a) < key(b); });
}

}  // namespace

ColouredSprings make_springs(const Lattice& lattice, float youngs_modulus) {
  const std::vector<Half> halves = gather_halves(lattice, youngs_modulus);
  ColouredSprings result;
  for (int phase = 0; phase < 2; ++phase)
    for (int direction = 0; direction < kDirections; ++direction)
      for (int parity = 0; parity < 2; ++parity) append_colour(lattice, halves, phase, direction, parity, result);
  result.colours.push_back(static_cast<std::uint32_t>(result.springs.size()));

  result.runs = find_runs(result.springs, result.colours);
  sort_for_cache(lattice, result.colours, result.runs);
  return result;
}

}  // namespace trocar
