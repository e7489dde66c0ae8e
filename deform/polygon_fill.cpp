#include "deform/polygon_fill.hpp"

#include <algorithm>

#include "mesh/polygons.hpp"

namespace trocar {
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
