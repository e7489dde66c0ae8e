#include "app/view/vessel_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "app/view/random_share.hpp"
#include "mesh/weld.hpp"

namespace trocar {
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

}  // namespace trocar
