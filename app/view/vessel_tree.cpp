#include "app/view/vessel_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "mesh/weld.hpp"

namespace trocar {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
constexpr float kCheapest = 0.3f, kDearest = 1.7f;  // cost of an edge, as a multiple of its length
constexpr int kSmoothings = 5;
constexpr float kLeastClearance = 1.6f;  // mean edges

float random_share(std::uint32_t a, std::uint32_t b, std::uint32_t seed) {
  std::uint32_t n = a * 1597334673u ^ b * 3812015801u ^ seed * 2246822519u;
  n = (n ^ (n >> 15)) * 2246822519u;
  n = (n ^ (n >> 13)) * 3266489917u;
  return static_cast<float>((n ^ (n >> 16)) >> 8) * (1.f / 16777216.f);
}

// The vertices of a surface without seams, and the edges between them.
struct Web {
  std::vector<glm::vec3> positions, normals;     // [vertex] normals have the length of twice the area around
  std::vector<std::uint32_t> first, neighbours;  // neighbours of vertex v: first[v] .. first[v + 1]
  double area = 0.0;                             // m^2
  float mean_edge = 0.f;                         // m

  std::span<const std::uint32_t> around(std::uint32_t v) const {
    return std::span(neighbours).subspan(first[v], first[v + 1] - first[v]);
  }
};

Web web_of(const MeshView& mesh) {
  Web web;
  const Weld welding = weld(mesh.positions);
  for (const std::uint32_t point : welding.point_of) web.positions.push_back(mesh.positions[point]);
  web.normals.resize(web.positions.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const glm::uvec3& face : mesh.faces) {
    const glm::uvec3 v{welding.vertex_of[face.x], welding.vertex_of[face.y], welding.vertex_of[face.z]};
    const glm::vec3 &a = web.positions[v.x], &b = web.positions[v.y], &c = web.positions[v.z];
    const glm::vec3 normal = glm::cross(b - a, c - a);
    web.area += 0.5 * static_cast<double>(glm::length(normal));
    for (int k = 0; k < 3; ++k) {
      web.normals[v[k]] += normal;
      if (v[k] == v[(k + 1) % 3]) continue;
      edges.emplace_back(v[k], v[(k + 1) % 3]);
      edges.emplace_back(v[(k + 1) % 3], v[k]);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  web.first.assign(web.positions.size() + 1, 0);
  for (const auto& edge : edges) ++web.first[edge.first + 1], web.neighbours.push_back(edge.second);
  double sum = 0.0;
  for (const auto& [a, b] : edges) sum += double{glm::distance(web.positions[a], web.positions[b])};
  web.mean_edge = static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(edges.size(), 1)));
  std::partial_sum(web.first.begin(), web.first.end(), web.first.begin());
  return web;
}

// Vertices with an edge, in random order.
std::vector<std::uint32_t> shuffled(const Web& web, std::uint32_t seed) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v + 1 < web.first.size(); ++v)
    if (!web.around(v).empty()) order.push_back(v);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(random_share(a, 0, seed), a) < std::pair(random_share(b, 0, seed), b);
  });
  return order;
}

// Roots lie far from each other: each is the farthest, among a few random vertices, from those before it.
std::vector<std::uint32_t> roots_of(const Web& web, std::span<const std::uint32_t> order,
                                    const VesselTreeParams& params) {
  constexpr std::size_t kCandidates = 64;
  const auto count = static_cast<std::size_t>(std::max(web.area / params.area_per_root, 1.0));
  std::vector<std::uint32_t> roots{order[0]};
  while (roots.size() < std::min(count, order.size())) {
    const auto distance = [&](std::uint32_t v) {
      float least = std::numeric_limits<float>::max();
      for (const std::uint32_t root : roots)
        least = std::min(least, glm::distance(web.positions[v], web.positions[root]));
      return least;
    };
    std::uint32_t best = order[0];
    for (std::size_t k = 0; k < std::min(kCandidates, order.size()); ++k)
      if (distance(order[k]) > distance(best)) best = order[k];
    roots.push_back(best);
  }
  return roots;
}

// Returns the next vertex on the cheapest way to a root. [vertex] itself at a root; kNobody where no way leads
std::vector<std::uint32_t> ways_to(std::span<const std::uint32_t> roots, const Web& web, std::uint32_t seed) {
  std::vector<std::uint32_t> next(web.positions.size(), kNobody);
  std::vector<float> cost(web.positions.size(), std::numeric_limits<float>::max());
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
    for (const std::uint32_t w : web.around(v)) {
      const float factor = kCheapest + (kDearest - kCheapest) * random_share(std::min(v, w), std::max(v, w) + 1, seed);
      const float through_v = so_far + factor * glm::distance(web.positions[v], web.positions[w]);
      if (through_v >= cost[w]) continue;
      cost[w] = through_v;
      next[w] = v;
      open.emplace(through_v, w);
    }
  }
  return next;
}

// The vertices that belong to vessels, and those near them. Changes the ways: one that comes near a vessel joins it.
class Grove {
 public:
  Grove(const Web& web, std::vector<std::uint32_t> next, const VesselTreeParams& params)
      : web_(web),
        shortest_(params.shortest),
        next_(std::move(next)),
        ends_(next_.size(), 0),
        beside_(next_.size(), kNobody),
        nearest_(next_.size(), std::max(params.clearance, kLeastClearance * web.mean_edge)) {}

  // Adds the path of `end` to the vessel or root that it meets, unless it is too short. Returns whether it did.
  bool add(std::uint32_t end) {
    way_.clear();
    float length = 0.f;
    std::uint32_t v = end;
    while (ends_[v] == 0 && next_[v] != v) {
      way_.push_back(v);
      const std::uint32_t w = beside_[v] == kNobody ? next_[v] : beside_[v];
      length += glm::distance(web_.positions[v], web_.positions[w]);
      v = w;
    }
    if (length < shortest_) return false;
    for (std::size_t k = 0; k < way_.size(); ++k) next_[way_[k]] = k + 1 < way_.size() ? way_[k + 1] : v;
    for (v = end; next_[v] != v; v = next_[v]) ++ends_[v];
    ++ends_[v];
    for (const std::uint32_t passed : way_) clear_around(passed);
    return true;
  }

  std::uint32_t next(std::uint32_t v) const { return next_[v]; }  // towards the root; itself at a root
  std::uint32_t ends(std::uint32_t v) const { return ends_[v]; }  // vessel ends beyond v; 0: no vessel

 private:
  // The ways of all vertices near this one lead to it, unless they lead to a vessel that is as near. A vertex leads to
  // one that was led to the same vessel in the same call or later, so that no way is a circle.
  void clear_around(std::uint32_t centre) {
    open_.assign(1, centre);
    while (!open_.empty()) {
      const std::uint32_t v = open_.back();
      open_.pop_back();
      for (const std::uint32_t w : web_.around(v)) {
        const float distance = glm::distance(web_.positions[w], web_.positions[centre]);
        if (ends_[w] != 0 || distance >= nearest_[w]) continue;
        nearest_[w] = distance;
        beside_[w] = v;
        open_.push_back(w);
      }
    }
  }

  const Web& web_;
  const float shortest_;  // m
  std::vector<std::uint32_t> next_, ends_;
  std::vector<std::uint32_t> beside_;  // [vertex] next vertex towards the nearest vessel nearby; kNobody: none
  std::vector<float> nearest_;         // [vertex] m  distance of that vessel, at most the clearance
  std::vector<std::uint32_t> open_, way_;
};

// Moves the vertices of vessels, along the surface, towards their neighbours on the wider vessel. Roots and ends stay.
void smooth(Web& web, const Grove& grove) {
  std::vector<glm::vec3>& positions = web.positions;
  const auto inside = [&](std::uint32_t v) { return grove.ends(v) != 0 && grove.next(v) != v; };
  std::vector<std::uint32_t> widest(positions.size(), kNobody);  // [vertex] the widest vessel that flows in
  for (std::uint32_t v = 0; v < positions.size(); ++v)
    if (std::uint32_t& rival = widest[grove.next(v) == kNobody ? v : grove.next(v)];
        inside(v) && (rival == kNobody || grove.ends(v) > grove.ends(rival)))
      rival = v;
  const std::vector<glm::vec3> at_first = positions;
  for (int round = 0; round < kSmoothings; ++round) {
    const std::vector<glm::vec3> before = positions;
    for (std::uint32_t v = 0; v < positions.size(); ++v) {
      if (!inside(v) || widest[v] == kNobody) continue;
      const glm::vec3 moved = 0.5f * before[v] + 0.25f * (before[grove.next(v)] + before[widest[v]]) - at_first[v];
      const glm::vec3& n = web.normals[v];
      const float squared = glm::dot(n, n);
      positions[v] = at_first[v] + moved - (squared > 0.f ? glm::dot(moved, n) / squared : 0.f) * n;
    }
  }
}

}  // namespace

std::vector<VesselPiece> grow_vessels(const MeshView& mesh, const VesselTreeParams& params) {
  Web web = web_of(mesh);
  const std::vector<std::uint32_t> order = shuffled(web, params.seed);
  if (order.empty()) return {};
  Grove grove(web, ways_to(roots_of(web, order, params), web, params.seed), params);
  auto wanted = static_cast<std::size_t>(std::max(web.area / params.area_per_end, 1.0));
  for (const std::uint32_t end : order)
    if (wanted > 0 && grove.next(end) != kNobody && grove.add(end)) --wanted;
  smooth(web, grove);
  const auto radius = [&](std::uint32_t v) {
    return std::min(params.end_radius * std::cbrt(static_cast<float>(grove.ends(v))), params.most_radius);
  };
  std::vector<VesselPiece> pieces;
  for (const std::uint32_t v : order) {
    const std::uint32_t to = grove.next(v);
    if (grove.ends(v) != 0 && to != v) pieces.push_back({web.positions[to], web.positions[v], radius(to), radius(v)});
  }
  return pieces;
}

}  // namespace trocar
