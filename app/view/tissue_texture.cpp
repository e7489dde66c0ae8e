#include "app/view/tissue_texture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/glm.hpp>
#include <limits>
#include <numeric>
#include <queue>

#include "mesh/triangle_mesh.hpp"

namespace trocar {
namespace {

constexpr int kCells = 12, kFineCells = 28;  // lattice cells along the volume's side
constexpr float kAlphaRange = 0.45f;         // noise range that fills alpha's full range

// Returns a value -1 .. 1 of a lattice point.
float lattice_value(int x, int y, int z, std::uint32_t seed) {
  return 2.f * random_share(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z),
                            seed) -
         1.f;
}

// Returns the noise at p, in 0 .. 1 of the volume; the noise repeats.
float noise(const glm::vec3& p, int cells, std::uint32_t seed) {
  const glm::vec3 scaled = p * static_cast<float>(cells), cell = glm::floor(scaled);
  const glm::vec3 f = scaled - cell, smooth = f * f * f * (f * (f * 6.f - 15.f) + 10.f);
  const auto wrapped = [&](float value) { return (static_cast<int>(value) % cells + cells) % cells; };
  const int x[] = {wrapped(cell.x), wrapped(cell.x + 1)}, y[] = {wrapped(cell.y), wrapped(cell.y + 1)},
            z[] = {wrapped(cell.z), wrapped(cell.z + 1)};
  std::array<float, 4> rows{};
  for (int k = 0; k < 4; ++k)
    rows[static_cast<std::size_t>(k)] = glm::mix(lattice_value(x[0], y[k & 1], z[k >> 1], seed),
                                                 lattice_value(x[1], y[k & 1], z[k >> 1], seed), smooth.x);
  return glm::mix(glm::mix(rows[0], rows[1], smooth.y), glm::mix(rows[2], rows[3], smooth.y), smooth.z);
}

std::uint8_t byte_of(float value) {
  return static_cast<std::uint8_t>(std::lround(255.f * std::clamp(0.5f + 0.5f * value, 0.f, 1.f)));
}

}  // namespace

std::vector<std::uint8_t> make_noise_volume() {
  std::vector<std::uint8_t> volume;
  volume.reserve(static_cast<std::size_t>(kNoiseSide) * kNoiseSide * kNoiseSide * 4);
  for (int z = 0; z < kNoiseSide; ++z) {
    for (int y = 0; y < kNoiseSide; ++y) {
      for (int x = 0; x < kNoiseSide; ++x) {
        const glm::vec3 p = glm::vec3(x, y, z) / static_cast<float>(kNoiseSide);
        glm::vec3 warp;
        for (std::uint32_t channel = 0; channel < 3; ++channel) {
          warp[static_cast<int>(channel)] = noise(p, kCells, channel + 1);
          volume.push_back(
              byte_of(0.72f * warp[static_cast<int>(channel)] + 0.34f * noise(p, kFineCells, channel + 4)));
        }
        volume.push_back(byte_of(noise(p + warp * (0.25f / kCells), kCells, 7) / kAlphaRange));
      }
    }
  }
  return volume;
}

namespace {

const glm::mat3 kTurned(0.36f, 0.48f, -0.80f, -0.80f, 0.60f, 0.00f, 0.48f, 0.64f, 0.60f);  // columns

// Returns the height of rounded cells at p, in 0 .. 1 of the volume: from the distances to the nearest and the second
// nearest of one random point a lattice cell.
float cell_height(const glm::vec3& p, int cells, std::uint32_t seed) {
  const glm::vec3 scaled = p * static_cast<float>(cells);
  const glm::ivec3 home(glm::floor(scaled));
  float nearest = 9.f, second = 9.f;
  for (int k = 0; k < 27; ++k) {
    const glm::ivec3 cell = home + glm::ivec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
    const glm::uvec3 wrapped((cell + cells) % cells);
    const glm::vec3 aside(random_share(wrapped.x, wrapped.y, wrapped.z, seed),
                          random_share(wrapped.x, wrapped.y, wrapped.z, seed + 1),
                          random_share(wrapped.x, wrapped.y, wrapped.z, seed + 2));
    const float distance = glm::distance(scaled, glm::vec3(cell) + aside);
    second = std::min(second, std::max(nearest, distance));
    nearest = std::min(nearest, distance);
  }
  const float inside = std::clamp((second - nearest) / 0.75f, 0.f, 1.f);
  return 1.f - (1.f - inside) * (1.f - inside);
}

}  // namespace

glm::vec3 turned(const glm::vec3& point) { return kTurned * point; }

void make_patches(std::span<const glm::vec3> rest, std::span<SkinVertex> skin) {
  const auto swap = [](const glm::vec3& p) { return glm::vec3(p.y, p.z, p.x); };
  for (std::size_t v = 0; v < rest.size(); ++v) {
    const glm::vec3 p = turned(rest[v]), m = glm::sin(p * 95.f + 2.f * glm::sin(swap(p) * 53.f)),
                    broad = glm::sin(p * 61.f + 1.3f + 1.6f * glm::sin(swap(swap(p)) * 83.f));
    skin[v].mottle = 0.55f * m.x * m.y + 0.45f * m.z;
    skin[v].fat = broad.x + broad.y * broad.z;
  }
}

std::vector<std::uint8_t> make_lobule_volume() {
  constexpr int kLarge = 8, kSmall = 16, kSide = kLobuleSide;  // cells along the side; texels
  constexpr float kHeight = 0.0011f;                           // m  of a lobule
  std::vector<float> heights;
  for (int z = 0; z < kSide; ++z)
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const glm::vec3 p = (glm::vec3(x, y, z) + 0.5f) / static_cast<float>(kSide);
        heights.push_back(0.68f * cell_height(p, kLarge, 11) + 0.32f * cell_height(p, kSmall, 21));
      }
  const auto height = [&](int x, int y, int z) {
    const auto wrapped = [](int k) { return static_cast<std::size_t>((k + kSide) % kSide); };
    return heights[(wrapped(z) * kSide + wrapped(y)) * kSide + wrapped(x)];
  };
  std::vector<std::uint8_t> volume;
  for (int z = 0; z < kSide; ++z)
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const glm::vec3 rise(height(x + 1, y, z) - height(x - 1, y, z), height(x, y + 1, z) - height(x, y - 1, z),
                             height(x, y, z + 1) - height(x, y, z - 1));
        const glm::vec3 slope = glm::transpose(kTurned) * rise * (kHeight * kSide / (2.f * kLobuleVolume));
        for (int k = 0; k < 3; ++k) volume.push_back(byte_of(-slope[k]));
        volume.push_back(byte_of(2.f * height(x, y, z) - 1.f));
      }
  return volume;
}

namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
constexpr float kCheapest = 0.3f, kDearest = 1.7f;  // cost of an edge, as a multiple of its length
constexpr int kSmoothings = 5;
constexpr double kMostRoots = 12.0, kMostEnds = 2000.0;
constexpr float kLeastClearance = 1.6f;  // mean edges

// The vertices of a surface without seams, and the edges between them.
struct SurfaceGraph {
  std::vector<glm::vec3> positions, normals;     // [vertex] normals have the length of twice the area around
  std::vector<std::uint32_t> first, neighbours;  // neighbours of vertex v: first[v] .. first[v + 1]
  double area = 0.0;                             // m^2
  float mean_edge = 0.f;                         // m

  std::span<const std::uint32_t> around(std::uint32_t v) const {
    return std::span(neighbours).subspan(first[v], first[v + 1] - first[v]);
  }
};

SurfaceGraph graph_of(const MeshView& mesh) {
  SurfaceGraph graph;
  const Weld welding = weld(mesh.positions);
  for (const std::uint32_t point : welding.point_of) graph.positions.push_back(mesh.positions[point]);
  graph.normals.resize(graph.positions.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const glm::uvec3& face : mesh.faces) {
    const glm::uvec3 v{welding.vertex_of[face.x], welding.vertex_of[face.y], welding.vertex_of[face.z]};
    const glm::vec3 &a = graph.positions[v.x], &b = graph.positions[v.y], &c = graph.positions[v.z];
    const glm::vec3 normal = glm::cross(b - a, c - a);
    graph.area += 0.5 * static_cast<double>(glm::length(normal));
    for (int k = 0; k < 3; ++k) {
      graph.normals[v[k]] += normal;
      if (v[k] == v[(k + 1) % 3]) continue;
      edges.emplace_back(v[k], v[(k + 1) % 3]);
      edges.emplace_back(v[(k + 1) % 3], v[k]);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  graph.first.assign(graph.positions.size() + 1, 0);
  for (const auto& edge : edges) ++graph.first[edge.first + 1], graph.neighbours.push_back(edge.second);
  double sum = 0.0;
  for (const auto& [a, b] : edges) sum += double{glm::distance(graph.positions[a], graph.positions[b])};
  graph.mean_edge = static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(edges.size(), 1)));
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  return graph;
}

// Vertices with an edge, in random order.
std::vector<std::uint32_t> shuffled(const SurfaceGraph& graph, std::uint32_t seed) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v + 1 < graph.first.size(); ++v)
    if (!graph.around(v).empty()) order.push_back(v);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(random_share(a, 0, 0, seed), a) < std::pair(random_share(b, 0, 0, seed), b);
  });
  return order;
}

// Roots lie far from each other: each is the farthest, among a few random vertices, from those before it.
std::vector<std::uint32_t> roots_of(const SurfaceGraph& graph, std::span<const std::uint32_t> order,
                                    const VesselTreeParams& params) {
  constexpr std::size_t kCandidates = 64;
  const auto count = static_cast<std::size_t>(std::clamp(graph.area / params.area_per_root, 1.0, kMostRoots));
  std::vector<std::uint32_t> roots{order[0]};
  while (roots.size() < std::min(count, order.size())) {
    const auto distance = [&](std::uint32_t v) {
      float least = std::numeric_limits<float>::max();
      for (const std::uint32_t root : roots)
        least = std::min(least, glm::distance(graph.positions[v], graph.positions[root]));
      return least;
    };
    std::uint32_t best = order[0];
    for (std::size_t k = 0; k < std::min(kCandidates, order.size()); ++k)
      if (distance(order[k]) > distance(best)) best = order[k];
    roots.push_back(best);
  }
  return roots;
}

// Returns the next vertex on the cheapest path to a root: itself at a root, kNobody where no path leads. [vertex]
std::vector<std::uint32_t> paths_to(std::span<const std::uint32_t> roots, const SurfaceGraph& graph,
                                    std::uint32_t seed) {
  std::vector<std::uint32_t> next(graph.positions.size(), kNobody);
  std::vector<float> cost(graph.positions.size(), std::numeric_limits<float>::max());
  using Reached = std::pair<float, std::uint32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  for (const std::uint32_t root : roots) {
    next[root] = root;
    cost[root] = 0.f;
    open.emplace(0.f, root);
  }
  while (!open.empty()) {
    const auto [so_far, v] = open.top();
    open.pop();
    if (so_far > cost[v]) continue;
    for (const std::uint32_t w : graph.around(v)) {
      const float factor =
          kCheapest + (kDearest - kCheapest) * random_share(std::min(v, w), std::max(v, w) + 1, 0, seed);
      const float through_v = so_far + factor * glm::distance(graph.positions[v], graph.positions[w]);
      if (through_v >= cost[w]) continue;
      cost[w] = through_v;
      next[w] = v;
      open.emplace(through_v, w);
    }
  }
  return next;
}

// The vertices that belong to vessels, and those near them. A path that comes near a vessel joins it.
class VesselForest {
 public:
  VesselForest(const SurfaceGraph& graph, std::vector<std::uint32_t> next, const VesselTreeParams& params)
      : graph_(graph),
        shortest_(params.shortest),
        next_(std::move(next)),
        ends_(next_.size(), 0),
        beside_(next_.size(), kNobody),
        nearest_(next_.size(), std::max(params.clearance, kLeastClearance * graph.mean_edge)) {}

  // Adds the path of `end` to the vessel or root that it meets, unless it is too short. Returns whether it did.
  bool add(std::uint32_t end) {
    path_.clear();
    float length = 0.f;
    std::uint32_t v = end;
    while (ends_[v] == 0 && next_[v] != v) {
      path_.push_back(v);
      const std::uint32_t w = beside_[v] == kNobody ? next_[v] : beside_[v];
      length += glm::distance(graph_.positions[v], graph_.positions[w]);
      v = w;
    }
    if (length < shortest_) return false;
    for (std::size_t k = 0; k < path_.size(); ++k) next_[path_[k]] = k + 1 < path_.size() ? path_[k + 1] : v;
    for (v = end; next_[v] != v; v = next_[v]) ++ends_[v];
    ++ends_[v];
    for (const std::uint32_t passed : path_) clear_around(passed);
    return true;
  }

  std::uint32_t next(std::uint32_t v) const { return next_[v]; }  // towards the root; itself at a root
  std::uint32_t ends(std::uint32_t v) const { return ends_[v]; }  // vessel ends beyond v; 0: no vessel

 private:
  // Leads all vertices near this one to it, unless a vessel is as near. A vertex leads to one that was led on in the
  // same call or later, so that no path is a circle.
  void clear_around(std::uint32_t centre) {
    open_.assign(1, centre);
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const std::uint32_t v = open_[k];
      for (const std::uint32_t w : graph_.around(v)) {
        const float distance = glm::distance(graph_.positions[w], graph_.positions[centre]);
        if (ends_[w] != 0 || distance >= nearest_[w]) continue;
        nearest_[w] = distance;
        beside_[w] = v;
        open_.push_back(w);
      }
    }
  }

  const SurfaceGraph& graph_;
  const float shortest_;  // m
  std::vector<std::uint32_t> next_, ends_;
  std::vector<std::uint32_t> beside_;  // [vertex] next vertex towards the nearest vessel nearby; kNobody: none
  std::vector<float> nearest_;         // [vertex] m  distance of that vessel, at most the clearance
  std::vector<std::uint32_t> open_, path_;
};

// Moves the vertices of vessels, along the surface, towards their neighbours on the wider vessel. Roots and ends stay.
void smooth(SurfaceGraph& graph, const VesselForest& forest) {
  std::vector<glm::vec3>& positions = graph.positions;
  const auto inside = [&](std::uint32_t v) { return forest.ends(v) != 0 && forest.next(v) != v; };
  std::vector<std::uint32_t> widest(positions.size(), kNobody);  // [vertex] the widest vessel that flows in
  for (std::uint32_t v = 0; v < positions.size(); ++v) {
    if (!inside(v)) continue;
    std::uint32_t& rival = widest[forest.next(v)];
    if (rival == kNobody || forest.ends(v) > forest.ends(rival)) rival = v;
  }
  const std::vector<glm::vec3> at_first = positions;
  for (int round = 0; round < kSmoothings; ++round) {
    const std::vector<glm::vec3> before = positions;
    for (std::uint32_t v = 0; v < positions.size(); ++v) {
      if (!inside(v) || widest[v] == kNobody) continue;
      const glm::vec3 moved = 0.5f * before[v] + 0.25f * (before[forest.next(v)] + before[widest[v]]) - at_first[v];
      const glm::vec3& n = graph.normals[v];
      const float squared = glm::dot(n, n);
      positions[v] = at_first[v] + moved - (squared > 0.f ? glm::dot(moved, n) / squared : 0.f) * n;
    }
  }
}

}  // namespace

std::vector<VesselPiece> grow_vessels(const MeshView& mesh, const VesselTreeParams& params) {
  SurfaceGraph graph = graph_of(mesh);
  const std::vector<std::uint32_t> order = shuffled(graph, params.seed);
  if (order.empty()) return {};
  VesselForest forest(graph, paths_to(roots_of(graph, order, params), graph, params.seed), params);
  auto wanted = static_cast<std::size_t>(std::clamp(graph.area / params.area_per_end, 1.0, kMostEnds));
  for (const std::uint32_t end : order)
    if (wanted > 0 && forest.next(end) != kNobody && forest.add(end)) --wanted;
  smooth(graph, forest);
  const auto radius = [&](std::uint32_t v) {
    return std::min(params.end_radius * std::cbrt(static_cast<float>(forest.ends(v))), params.most_radius);
  };
  std::vector<VesselPiece> pieces;
  for (const std::uint32_t v : order) {
    const std::uint32_t to = forest.next(v);
    if (forest.ends(v) != 0 && to != v)
      pieces.push_back({graph.positions[to], graph.positions[v], radius(to), radius(v)});
  }
  return pieces;
}

namespace {

constexpr float kFinestCell = 0.0005f;  // m

// Between texels the linear interpolation of a squared distance is too large, by up to cell^2 / 4 at an axis.
constexpr float kMeanExcess = 0.17f;  // of cell^2

std::uint8_t vessel_texel(float difference) {
  constexpr float kMost = kVesselReach * kVesselReach;
  return static_cast<std::uint8_t>(std::lround(127.5f + 127.5f * std::clamp(difference / kMost, -1.f, 1.f)));
}

std::size_t texel_at(const VesselVolume& volume, const glm::ivec3& at) {
  const auto x = static_cast<std::size_t>(at.x), y = static_cast<std::size_t>(at.y), z = static_cast<std::size_t>(at.z);
  return (z * static_cast<std::size_t>(volume.size.y) + y) * static_cast<std::size_t>(volume.size.x) + x;
}

// Square of a piece's radius minus the square of the distance to its axis.
float difference_of_squares(const VesselPiece& piece, const glm::vec3& p) {
  const glm::vec3 way = piece.to - piece.from;
  const float squared = glm::dot(way, way);
  const float share = squared > 0.f ? std::clamp(glm::dot(p - piece.from, way) / squared, 0.f, 1.f) : 0.f;
  const float radius = glm::mix(piece.from_radius, piece.to_radius, share);
  const glm::vec3 apart = p - piece.from - share * way;
  return radius * radius - glm::dot(apart, apart);
}

void fill_piece(VesselVolume& volume, const VesselPiece& piece) {
  const glm::vec3 reach(std::max(piece.from_radius, piece.to_radius) + kVesselReach);
  const float excess = kMeanExcess * volume.cell * volume.cell;
  const auto cell_of = [&](const glm::vec3& p) { return glm::ivec3(glm::floor((p - volume.low) / volume.cell)); };
  const glm::ivec3 low = glm::max(cell_of(glm::min(piece.from, piece.to) - reach), glm::ivec3(0));
  const glm::ivec3 high = glm::min(cell_of(glm::max(piece.from, piece.to) + reach), volume.size - 1);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) {
        const glm::vec3 centre = volume.low + volume.cell * (glm::vec3(x, y, z) + 0.5f);
        std::uint8_t& texel = volume.texels[texel_at(volume, {x, y, z})];
        texel = std::max(texel, vessel_texel(difference_of_squares(piece, centre) + excess));
      }
}

}  // namespace

float VesselVolume::inside(const glm::vec3& p) const {
  if (texels.empty()) return -1.f;
  const glm::vec3 at = glm::clamp((p - low) / cell - 0.5f, glm::vec3(0.f), glm::vec3(size - 1));
  const glm::ivec3 cell_at(glm::floor(at));
  const glm::vec3 f = at - glm::vec3(cell_at);
  float sum = 0.f;
  for (int k = 0; k < 8; ++k) {
    const glm::ivec3 corner{k & 1, (k >> 1) & 1, k >> 2};
    const glm::vec3 share = glm::mix(1.f - f, f, glm::vec3(corner));
    sum +=
        share.x * share.y * share.z * static_cast<float>(texels[texel_at(*this, glm::min(cell_at + corner, size - 1))]);
  }
  return sum / 127.5f - 1.f;
}

VesselVolume make_vessel_volume(std::span<const VesselPiece> pieces, std::span<const glm::vec3> positions,
                                const VesselVolumeLimits& limits) {
  VesselVolume volume;
  if (positions.empty()) return volume;
  glm::vec3 low = positions[0], high = positions[0];
  for (const glm::vec3& p : positions) low = glm::min(low, p), high = glm::max(high, p);
  const glm::dvec3 extent(high - low);
  // With a margin of one texel on every side.
  volume.cell = kFinestCell;
  const auto sides = [&] { return glm::ceil(extent / static_cast<double>(volume.cell)) + 2.0; };
  const auto too_large = [&](const glm::dvec3& side) {
    return side.x * side.y * side.z > static_cast<double>(limits.most_texels) ||
           std::max({side.x, side.y, side.z}) > limits.most_side;
  };
  while (too_large(sides())) volume.cell *= 1.05f;
  volume.size = glm::ivec3(sides());
  volume.low = low - volume.cell;
  volume.texels.assign(texel_at(volume, {0, 0, volume.size.z}), 0);
  for (const VesselPiece& piece : pieces) fill_piece(volume, piece);
  return volume;
}

}  // namespace trocar
