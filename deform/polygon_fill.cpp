#include "deform/polygon_fill.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

// Points closer than this are one point: a slit that is not open has coinciding sides.
constexpr double kSamePoint = 1e-8;  // m

// Factor on the shape of an ear to be avoided: every other proper ear is cut before it.
constexpr double kAvoided = 1e-9;

using FillRing = std::vector<std::size_t>;  // entries of loops.vertex

double cross(const glm::dvec2& a, const glm::dvec2& b) { return a.x * b.y - a.y * b.x; }
double turn(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c) { return cross(b - a, c - a); }
bool same(const glm::dvec2& a, const glm::dvec2& b) { return glm::distance(a, b) < kSamePoint; }

double area(std::span<const glm::dvec2> points, const FillRing& ring) {
  double sum = 0.0;
  for (std::size_t i = 0; i < ring.size(); ++i)
    sum += cross(points[ring[i]] - points[ring[0]], points[ring[(i + 1) % ring.size()]] - points[ring[0]]);
  return 0.5 * sum;
}

int winding(std::span<const glm::dvec2> points, const FillRing& ring, const glm::dvec2& q) {
  int sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const glm::dvec2 &a = points[ring[i]], &b = points[ring[(i + 1) % ring.size()]];
    if ((a.y <= q.y) == (b.y <= q.y)) continue;
    if ((turn(a, b, q) > 0.0) == (b.y > a.y)) sum += b.y > a.y ? 1 : -1;
  }
  return sum;
}

bool crosses(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c, const glm::dvec2& d) {
  if (same(a, c) || same(a, d) || same(b, c) || same(b, d)) return false;
  return (turn(a, b, c) > 0.0) != (turn(a, b, d) > 0.0) && (turn(c, d, a) > 0.0) != (turn(c, d, b) > 0.0);
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

// Cuts the ears of one ring.
class Clipper {
 public:
  Clipper(std::span<const glm::dvec2> points, std::span<const char> shared, FillRing ring)
      : points_(points), shared_(shared), ring_(std::move(ring)) {
    for (std::size_t i = 0; i < ring_.size(); ++i) shape_.push_back(shape(i));
  }

  template <typename Emit>
  void clip(Emit emit) {
    while (ring_.size() > 3) {
      const std::size_t ear = best_ear();
      emit(at(ear + ring_.size() - 1), at(ear), at(ear + 1));
      ring_.erase(ring_.begin() + static_cast<std::ptrdiff_t>(ear));
      shape_.erase(shape_.begin() + static_cast<std::ptrdiff_t>(ear));
      for (const std::size_t i : {(ear + ring_.size() - 1) % ring_.size(), ear % ring_.size()}) shape_[i] = shape(i);
    }
    if (ring_.size() == 3) emit(ring_[0], ring_[1], ring_[2]);
  }

 private:
  std::size_t at(std::size_t i) const { return ring_[i % ring_.size()]; }

  // Returns 1 for an equilateral triangle, a negative number when it is turned over.
  double shape(std::size_t i) const {
    const glm::dvec2 &a = points_[at(i + ring_.size() - 1)], &b = points_[at(i)], &c = points_[at(i + 1)];
    const double sides = glm::dot(b - a, b - a) + glm::dot(c - b, c - b) + glm::dot(a - c, a - c);
    const bool avoided = !shared_.empty() && shared_[at(i + ring_.size() - 1)] && shared_[at(i)] && shared_[at(i + 1)];
    return sides > 0.0 ? 2.0 * std::sqrt(3.0) * turn(a, b, c) / sides * (avoided ? kAvoided : 1.0) : 0.0;
  }

  // The best-shaped ear that contains no other point; when there is none, the best-shaped of all.
  std::size_t best_ear() {
    blocked_.assign(ring_.size(), 0);
    std::size_t first = ring_.size();
    while (true) {
      std::size_t best = ring_.size();
      for (std::size_t i = 0; i < ring_.size(); ++i)
        if (!blocked_[i] && (best == ring_.size() || shape_[i] > shape_[best])) best = i;
      if (first == ring_.size()) first = best;
      if (best == ring_.size() || !(shape_[best] > 0.0)) return first;
      if (!is_blocked(best)) return best;
      blocked_[best] = 1;
    }
  }

  bool is_blocked(std::size_t i) const {
    const glm::dvec2 &a = points_[at(i + ring_.size() - 1)], &b = points_[at(i)], &c = points_[at(i + 1)];
    for (const std::size_t other : ring_) {
      const glm::dvec2& p = points_[other];
      if (turn(a, b, p) < 0.0 || turn(b, c, p) < 0.0 || turn(c, a, p) < 0.0) continue;
      if (!same(p, a) && !same(p, b) && !same(p, c)) return true;
    }
    return false;
  }

  std::span<const glm::dvec2> points_;
  std::span<const char> shared_;
  FillRing ring_;
  std::vector<double> shape_;  // [i] of the ear at corner i of the ring
  std::vector<char> blocked_;  // [i]
};

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
  for (FillRing& ring : outer) Clipper(points, shared, std::move(ring)).clip(add);
  for (FillRing& ring : turned)
    Clipper(points, shared, std::move(ring)).clip([&](std::size_t a, std::size_t b, std::size_t c) { add(a, c, b); });
  return triangles;
}

}  // namespace trocar
