#include "deform/loft.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/exact_sign.hpp"

namespace trocar {
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

}  // namespace trocar
