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

// Springs of one direction that begin in every second layer (row, or column) share no node.
int parity_of(const glm::ivec3& at, int direction) {
  const auto& d = kDirection[direction];
  return (d[2] ? at.z : d[1] ? at.y : at.x) & 1;
}

void append_colour(const Lattice& lattice, const std::vector<Half>& halves, int direction, int parity,
                   ColouredSprings& result) {
  const auto first = static_cast<std::uint32_t>(result.springs.size());
  const auto length = static_cast<float>(lattice.spacing * std::sqrt(axes_of(direction)));
  for (std::uint32_t node = 0; node < lattice.node_at.size(); ++node) {
    const Half& half = halves[node * kDirections + direction];
    if (half.stiffness > 0.0 && parity_of(lattice.node_at[node], direction) == parity)
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

// Within a colour, never two rows running that lie side by side in memory: the end of one store would hold up the next
// load.
void sort_for_cache(const Lattice& lattice, std::span<const std::uint32_t> colours, std::vector<SpringRun>& runs) {
  const auto key = [&](const SpringRun& run) {
    const glm::ivec3& at = lattice.node_at[run.a];
    const auto colour = std::upper_bound(colours.begin(), colours.end(), run.first) - colours.begin();
    return std::array<int, 3>{static_cast<int>(colour), at.z, 2 * (at.y & 1) + (at.y >> 1 & 1)};
  };
  std::stable_sort(runs.begin(), runs.end(), [&](const SpringRun& a, const SpringRun& b) { return key(a) < key(b); });
}

}  // namespace

ColouredSprings make_springs(const Lattice& lattice, float youngs_modulus) {
  const std::vector<Half> halves = gather_halves(lattice, youngs_modulus);
  ColouredSprings result;
  for (int direction = 0; direction < kDirections; ++direction)
    for (int parity = 0; parity < 2; ++parity) append_colour(lattice, halves, direction, parity, result);
  result.colours.push_back(static_cast<std::uint32_t>(result.springs.size()));

  result.runs = find_runs(result.springs, result.colours);
  sort_for_cache(lattice, result.colours, result.runs);
  return result;
}

}  // namespace trocar
