#include "deform/cut/boundary_loops.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "mesh/exact_sign.hpp"
#include "mesh/polygons.hpp"

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

namespace {

// Most rungs considered for one strip. Up to this number the whole strip is optimal; above, each next rung is the
// shorter of two. Two boundaries of 1000 vertices take about 5 ms.
constexpr std::size_t kMostRungs = 4000000;
// A cap with more corners is first divided by a chord: the optimal triangulation takes cubic time.
constexpr std::size_t kLargestCap = 24;

using Ring = std::vector<std::uint32_t>;  // vertices

float squared(const glm::vec3& a, const glm::vec3& b) { return glm::dot(a - b, a - b); }

struct Rung {
  std::size_t i, j;
  float length;  // m^2
};

Rung shortest_rung(std::span<const glm::vec3> positions, std::span<const std::uint32_t> a,
                   std::span<const std::uint32_t> b) {
  Rung best{0, 0, INFINITY};
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      if (const float length = squared(positions[a[i]], positions[b[j]]); length < best.length) best = {i, j, length};
  return best;
}

// Two rings from their first rung on, each closed by its first vertex; `b` is reversed to run along `a`.
struct Band {
  std::span<const glm::vec3> positions;
  Ring a, b;
  float rung(std::size_t i, std::size_t j) const { return squared(positions[a[i]], positions[b[j]]); }
};

Band make_band(std::span<const glm::vec3> positions, std::span<const std::uint32_t> skin,
               std::span<const std::uint32_t> wall) {
  Band band{positions, {}, {}};
  const Rung first = shortest_rung(positions, skin, wall);
  for (std::size_t i = 0; i <= skin.size(); ++i) band.a.push_back(skin[(first.i + i) % skin.size()]);
  for (std::size_t j = 0; j <= wall.size(); ++j)
    band.b.push_back(wall[(first.j + wall.size() - j % wall.size()) % wall.size()]);
  return band;
}

// Steps of a strip by the greedy rule; true along `a`.
std::vector<char> short_steps(const Band& band) {
  std::vector<char> steps;
  std::size_t i = 0, j = 0;
  while (i + 1 < band.a.size() || j + 1 < band.b.size()) {
    const bool along_a =
        j + 1 == band.b.size() || (i + 1 < band.a.size() && band.rung(i + 1, j) <= band.rung(i, j + 1));
    steps.push_back(along_a);
    ++(along_a ? i : j);
  }
  return steps;
}

std::vector<char> best_steps(const Band& band) {
  const std::size_t rows = band.a.size(), columns = band.b.size();
  std::vector<float> cost(columns);
  std::vector<char> from_a(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const float along_a = i > 0 ? cost[j] : INFINITY, along_b = j > 0 ? cost[j - 1] : INFINITY;
      from_a[i * columns + j] = along_a <= along_b;
      cost[j] = band.rung(i, j) + (i + j > 0 ? std::min(along_a, along_b) : 0.f);
    }
  std::vector<char> steps;
  for (std::size_t i = rows - 1, j = columns - 1; i + j > 0;) {
    const bool along_a = j == 0 || (i > 0 && from_a[i * columns + j]);
    steps.push_back(along_a);
    --(along_a ? i : j);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Least area of a triangulation of vertices first..last, by its triangle at the side first - last. Boundaries have
// collinear vertices; their triangles have area 0, so they get this penalty and are used only when unavoidable.
constexpr double kFlat = 1.0;  // m^2
class BestCap {
 public:
  BestCap(std::span<const glm::vec3> positions, const Ring& ring)
      : positions_(positions), ring_(ring), area_(ring.size() * ring.size(), 0.0), middle_(area_.size(), 0) {
    const std::size_t n = ring.size();
    for (std::size_t span = 2; span < n; ++span)
      for (std::size_t i = 0; i + span < n; ++i) choose(i, i + span);
  }

  void add(std::size_t i, std::size_t k, std::vector<glm::uvec3>& triangles) const {
    if (k < i + 2) return;
    const std::size_t m = middle_[i * ring_.size() + k];
    triangles.push_back({ring_[k], ring_[m], ring_[i]});
    add(i, m, triangles);
    add(m, k, triangles);
  }

 private:
  void choose(std::size_t i, std::size_t k) {
    const std::size_t n = ring_.size();
    double best = INFINITY;
    for (std::size_t m = i + 1; m < k; ++m) {
      const glm::dvec3 a(positions_[ring_[i]]), b(positions_[ring_[m]]), c(positions_[ring_[k]]);
      const bool flat = !has_area(positions_[ring_[i]], positions_[ring_[m]], positions_[ring_[k]]);
      const double area =
          area_[i * n + m] + area_[m * n + k] + glm::length(glm::cross(b - a, c - a)) + (flat ? kFlat : 0.0);
      if (!(area < best) && m > i + 1) continue;
      best = area;
      middle_[i * n + k] = static_cast<std::uint32_t>(m);
    }
    area_[i * n + k] = best;
  }

  std::span<const glm::vec3> positions_;
  const Ring& ring_;
  std::vector<double> area_;           // [first][last] m^2, twice
  std::vector<std::uint32_t> middle_;  // [first][last]
};

// Divides a ring at its shortest chord for which neither part has less than a quarter of the vertices.
void add_cap_of(std::span<const glm::vec3> positions, const Ring& ring, std::vector<glm::uvec3>& triangles) {
  const std::size_t n = ring.size();
  if (n <= kLargestCap) {
    BestCap(positions, ring).add(0, n - 1, triangles);
    return;
  }
  std::size_t from = 0, to = n / 2;
  float best = INFINITY;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + n / 4; j < n && j - i <= n - n / 4; ++j)
      if (const float chord = squared(positions[ring[i]], positions[ring[j]]); chord < best)
        best = chord, from = i, to = j;
  const auto at = [&](std::size_t i) { return ring.begin() + static_cast<std::ptrdiff_t>(i); };
  Ring inner(at(from), at(to + 1)), outer(at(to), ring.end());
  outer.insert(outer.end(), ring.begin(), at(from + 1));
  add_cap_of(positions, inner, triangles);
  add_cap_of(positions, outer, triangles);
}

// Joins `ring` and `other` by a bridge between their closest vertices, traversed once in each direction, or at a common
// vertex.
Ring bridged(std::span<const glm::vec3> positions, const Ring& ring, std::span<const std::uint32_t> other) {
  const Rung bridge = shortest_rung(positions, ring, other);
  const std::size_t again = ring[bridge.i] == other[bridge.j] ? 0 : 1;
  Ring joined;
  for (std::size_t i = 0; i < ring.size() + again; ++i) joined.push_back(ring[(bridge.i + i) % ring.size()]);
  for (std::size_t j = 0; j < other.size() + again; ++j) joined.push_back(other[(bridge.j + j) % other.size()]);
  return joined;
}

// A remaining loop with at most this many edges is capped on its own and does not join a neighbour's strip.
constexpr std::size_t kSmallLoop = 8;

// Groups loops. Two loops that are each other's nearest form a pair; a larger loop joins the pair whose loop is nearest
// to it.
class Matching {
 public:
  Matching(std::span<const glm::vec3> positions, const Loops& loops, const std::vector<char>& wall, float reach)
      : loops_(loops), wall_(wall), range_(reach) {
    const std::size_t n = loops.count();
    for (const std::uint32_t v : loops.vertex) points_.push_back(positions[v]);
    for (std::size_t k = 0; k < n; ++k) boxes_.push_back(box_of(points(k)));
    for (std::size_t k = 0; k < n; ++k) nearest_.push_back(find_nearest(k));
    group_.resize(n);
    for (std::size_t k = 0; k < n; ++k) group_[k] = group_of(k);
  }
  // Returns, for each loop, the wall loop that identifies its group; the loop itself when it is alone.
  const std::vector<std::size_t>& groups() const { return group_; }

 private:
  struct Box {
    glm::vec3 low, high;  // m
  };

  static Box box_of(std::span<const glm::vec3> points) {
    Box box{glm::vec3(INFINITY), glm::vec3(-INFINITY)};
    for (const glm::vec3& p : points) {
      box.low = glm::min(box.low, p);
      box.high = glm::max(box.high, p);
    }
    return box;
  }

  std::span<const glm::vec3> points(std::size_t k) const {
    return std::span(points_).subspan(loops_.first[k], loops_.first[k + 1] - loops_.first[k]);
  }

  // Returns the mean, over the vertices of loop `a`, of the distance to the nearest vertex of loop `b`, m; infinite
  // above `limit`.
  float distance(std::size_t a, std::size_t b, float limit) const {
    const glm::vec3 apart = glm::max(boxes_[a].low - boxes_[b].high, boxes_[b].low - boxes_[a].high);
    if (glm::any(glm::greaterThan(apart, glm::vec3(limit)))) return INFINITY;
    const auto count = static_cast<float>(points(a).size());
    float sum = 0.f;
    for (const glm::vec3& p : points(a)) {
      float nearest = INFINITY;
      for (const glm::vec3& q : points(b)) nearest = std::min(nearest, squared(p, q));
      sum += std::sqrt(nearest);
      if (sum > limit * count) return INFINITY;
    }
    return sum / count;
  }

  std::size_t find_nearest(std::size_t k) const {
    std::size_t nearest = k;
    float best = range_;
    for (std::size_t other = 0; other < loops_.count(); ++other) {
      if (wall_[other] == wall_[k]) continue;
      if (const float d = distance(k, other, best); d < best) best = d, nearest = other;
    }
    return nearest;
  }

  std::size_t group_of(std::size_t k) const {
    const std::size_t partner = nearest_[k];
    if (partner == k) return k;
    if (nearest_[partner] == k) return wall_[k] ? k : partner;
    if (loops_.loop(k).size() <= kSmallLoop || nearest_[nearest_[partner]] != partner) return k;
    return wall_[partner] ? partner : nearest_[partner];
  }

  const Loops& loops_;
  const std::vector<char>& wall_;
  float range_;
  std::vector<glm::vec3> points_;     // m, of the loops' vertices in their order
  std::vector<Box> boxes_;            // [loop]
  std::vector<std::size_t> nearest_;  // [loop] the nearest loop of the other side; itself: none
  std::vector<std::size_t> group_;    // [loop]
};

}  // namespace

void add_strip(std::span<const glm::vec3> positions, std::span<const std::uint32_t> skin,
               std::span<const std::uint32_t> wall, std::vector<glm::uvec3>& triangles) {
  const Band band = make_band(positions, skin, wall);
  const bool all = band.a.size() * band.b.size() <= kMostRungs;
  std::size_t i = 0, j = 0;
  for (const char along_a : all ? best_steps(band) : short_steps(band)) {
    if (along_a) {
      triangles.push_back({band.a[i + 1], band.a[i], band.b[j]});
      ++i;
    } else {
      triangles.push_back({band.b[j], band.b[j + 1], band.a[i]});
      ++j;
    }
  }
}

void add_cap(std::span<const glm::vec3> positions, std::span<const std::uint32_t> loop,
             std::vector<glm::uvec3>& triangles) {
  add_cap_of(positions, Ring(loop.begin(), loop.end()), triangles);
}

std::vector<glm::uvec3> close_loops(std::span<const glm::vec3> positions, const Loops& loops,
                                    const std::vector<char>& wall, float reach) {
  const std::vector<std::size_t> group = Matching(positions, loops, wall, reach).groups();
  std::vector<glm::uvec3> triangles;
  for (std::size_t k = 0; k < loops.count(); ++k) {
    if (group[k] != k) continue;
    Ring rings[2];
    for (std::size_t member = 0; member < loops.count(); ++member) {
      if (group[member] != k) continue;
      Ring& ring = rings[wall[member] ? 1 : 0];
      const auto loop = loops.loop(member);
      ring = ring.empty() ? Ring(loop.begin(), loop.end()) : bridged(positions, ring, loop);
    }
    if (rings[0].empty() || rings[1].empty())
      add_cap(positions, loops.loop(k), triangles);
    else
      add_strip(positions, rings[0], rings[1], triangles);
  }
  // Rings with a common vertex give triangles that use it twice. Their edges cancel, so the surface stays closed.
  std::erase_if(triangles, [](const glm::uvec3& f) { return f.x == f.y || f.y == f.z || f.z == f.x; });
  return triangles;
}

namespace {

double area(std::span<const glm::dvec2> points, const FillRing& ring) {
  double sum = 0.0;
  for (std::size_t i = 0; i < ring.size(); ++i)
    sum += turn_of(points[ring[0]], points[ring[i]], points[ring[(i + 1) % ring.size()]]);
  return 0.5 * sum;
}

int winding(std::span<const glm::dvec2> points, const FillRing& ring, const glm::dvec2& q) {
  int sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const glm::dvec2 &a = points[ring[i]], &b = points[ring[(i + 1) % ring.size()]];
    if ((a.y <= q.y) == (b.y <= q.y)) continue;
    if ((turn_of(a, b, q) > 0.0) == (b.y > a.y)) sum += b.y > a.y ? 1 : -1;
  }
  return sum;
}

bool crosses(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c, const glm::dvec2& d) {
  if (same_point(a, c) || same_point(a, d) || same_point(b, c) || same_point(b, d)) return false;
  return (turn_of(a, b, c) > 0.0) != (turn_of(a, b, d) > 0.0) && (turn_of(c, d, a) > 0.0) != (turn_of(c, d, b) > 0.0);
}

bool crosses(std::span<const glm::dvec2> points, const FillRing& ring, const glm::dvec2& a, const glm::dvec2& b) {
  for (std::size_t i = 0; i < ring.size(); ++i)
    if (crosses(a, b, points[ring[i]], points[ring[(i + 1) % ring.size()]])) return true;
  return false;
}

// Joins a hole to a ring by the shortest bridge that crosses neither, or else by the shortest.
void join(std::span<const glm::dvec2> points, const FillRing& hole, FillRing& ring) {
  struct Bridge {
    double length;
    std::size_t i, j;
  };
  std::vector<Bridge> bridges;
  for (std::size_t i = 0; i < ring.size(); ++i)
    for (std::size_t j = 0; j < hole.size(); ++j)
      bridges.push_back({glm::distance(points[ring[i]], points[hole[j]]), i, j});
  std::stable_sort(bridges.begin(), bridges.end(),
                   [](const Bridge& a, const Bridge& b) { return a.length < b.length; });
  const auto free = std::find_if(bridges.begin(), bridges.end(), [&](const Bridge& b) {
    return !crosses(points, ring, points[ring[b.i]], points[hole[b.j]]) &&
           !crosses(points, hole, points[ring[b.i]], points[hole[b.j]]);
  });
  const Bridge bridge = free != bridges.end() ? *free : bridges.front();
  FillRing joined;
  for (std::size_t i = 0; i <= ring.size(); ++i) joined.push_back(ring[(bridge.i + i) % ring.size()]);
  for (std::size_t j = 0; j <= hole.size(); ++j) joined.push_back(hole[(bridge.j + j) % hole.size()]);
  ring = std::move(joined);
}

// Returns the index of the smallest outer ring around the hole; the number of rings when there is none.
std::size_t around(std::span<const glm::dvec2> points, const std::vector<FillRing>& rings, const FillRing& hole) {
  std::size_t best = rings.size();
  for (std::size_t k = 0; k < rings.size(); ++k)
    if (winding(points, rings[k], points[hole[0]]) != 0 &&
        (best == rings.size() || area(points, rings[k]) < area(points, rings[best])))
      best = k;
  return best;
}

}  // namespace

std::vector<glm::uvec3> fill_loops(const Loops& loops, std::span<const glm::dvec2> points,
                                   std::span<const char> shared) {
  std::vector<FillRing> outer, holes, turned;
  for (std::size_t k = 0; k < loops.count(); ++k) {
    FillRing ring;
    for (std::size_t i = loops.first[k]; i < loops.first[k + 1]; ++i) ring.push_back(i);
    (area(points, ring) > 0.0 ? outer : holes).push_back(std::move(ring));
  }
  std::vector<std::vector<const FillRing*>> of(outer.size());
  for (const FillRing& hole : holes) {
    const std::size_t k = around(points, outer, hole);
    if (k < outer.size())
      of[k].push_back(&hole);
    else
      turned.emplace_back(hole.rbegin(), hole.rend());
  }
  for (std::size_t k = 0; k < outer.size(); ++k)
    for (const FillRing* hole : of[k]) join(points, *hole, outer[k]);

  std::vector<glm::uvec3> triangles;
  const auto add = [&](std::size_t a, std::size_t b, std::size_t c) {
    const glm::uvec3 t(loops.vertex[a], loops.vertex[b], loops.vertex[c]);
    // The edges of a triangle that uses a vertex twice cancel.
    if (t.x != t.y && t.y != t.z && t.z != t.x) triangles.push_back(t);
  };
  for (FillRing& ring : outer)
    for (const auto& [a, b, c] : clip_ears(points, std::move(ring), shared).triangles) add(a, b, c);
  for (FillRing& ring : turned)
    for (const auto& [a, b, c] : clip_ears(points, std::move(ring), shared).triangles) add(a, c, b);
  return triangles;
}

}  // namespace trocar
