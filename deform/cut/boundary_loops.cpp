#include "deform/cut/boundary_loops.hpp"

#include <algorithm>
#include <tuple>

namespace trocar {
namespace {

bool rim_before(const RimEdge& a, const RimEdge& b) { return std::tie(a.u, a.v) < std::tie(b.u, b.v); }

// Walks from edge to edge. When the path meets itself, the stretch since then is a closed loop and is removed.
class Walk {
 public:
  explicit Walk(std::span<const RimEdge> rim) {
    for (const RimEdge& edge : rim)
      for (int i = 0; i < std::abs(edge.net); ++i)
        edges_.push_back(edge.net > 0 ? glm::uvec2(edge.u, edge.v) : glm::uvec2(edge.v, edge.u));
    std::sort(edges_.begin(), edges_.end(),
              [](const glm::uvec2& a, const glm::uvec2& b) { return std::tie(a.x, a.y) < std::tie(b.x, b.y); });
    for (std::uint32_t e = 0; e < edges_.size(); ++e)
      if (e == 0 || edges_[e].x != edges_[e - 1].x) starts_.push_back(edges_[e].x), next_.push_back(e);
    on_path_.assign(starts_.size(), -1);
  }

  Loops loops() {
    for (std::uint32_t s = 0; s < starts_.size(); ++s)
      while (has_edge(s)) walk_from(s);
    return std::move(loops_);
  }

 private:
  bool has_edge(std::uint32_t s) const { return next_[s] < edges_.size() && edges_[next_[s]].x == starts_[s]; }
  std::uint32_t start_of(std::uint32_t vertex) const {
    return static_cast<std::uint32_t>(std::lower_bound(starts_.begin(), starts_.end(), vertex) - starts_.begin());
  }

  void walk_from(std::uint32_t s) {
    path_.assign(1, s);
    on_path_[s] = 0;
    while (has_edge(path_.back())) {
      const std::uint32_t next = start_of(edges_[next_[path_.back()]++].y);
      if (on_path_[next] >= 0) remove_loop(static_cast<std::size_t>(on_path_[next]));
      on_path_[next] = static_cast<std::int32_t>(path_.size());
      path_.push_back(next);
    }
    for (const std::uint32_t start : path_) on_path_[start] = -1;
  }

  void remove_loop(std::size_t from) {
    for (std::size_t i = from; i < path_.size(); ++i) {
      loops_.vertex.push_back(starts_[path_[i]]);
      on_path_[path_[i]] = -1;
    }
    loops_.close();
    path_.resize(from);
  }

  std::vector<glm::uvec2> edges_;      // from, to
  std::vector<std::uint32_t> starts_;  // [start] vertices at which edges start, ascending
  std::vector<std::uint32_t> next_;    // [start] its next edge not yet walked
  std::vector<std::int32_t> on_path_;  // [start] its index on the path, -1: not on it
  std::vector<std::uint32_t> path_;    // starts
  Loops loops_;
};

}  // namespace

void add_edges(const glm::uvec3& face, int sign, std::vector<RimEdge>& edges) {
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t from = face[i], to = face[(i + 1) % 3];
    edges.push_back(from < to ? RimEdge{from, to, sign} : RimEdge{to, from, -sign});
  }
}

void update_rim(std::vector<RimEdge>& rim, std::vector<RimEdge>& changes) {
  std::sort(changes.begin(), changes.end(), rim_before);
  const std::size_t old = rim.size();
  rim.insert(rim.end(), changes.begin(), changes.end());
  std::inplace_merge(rim.begin(), rim.begin() + static_cast<std::ptrdiff_t>(old), rim.end(), rim_before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rim.size();) {
    RimEdge sum{rim[i].u, rim[i].v, 0};
    for (; i < rim.size() && rim[i].u == sum.u && rim[i].v == sum.v; ++i) sum.net += rim[i].net;
    if (sum.net != 0 && sum.u != sum.v) rim[kept++] = sum;
  }
  rim.resize(kept);
}

Loops find_loops(std::span<const RimEdge> rim) { return Walk(rim).loops(); }

}  // namespace trocar
