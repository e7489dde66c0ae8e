// Makes random points, segments and polygons for the planar property tests. Coordinates are whole numbers times a power
// of two, so that a test decides in 128-bit integers what the code under test decides in double. Small grids make
// degenerate cases common; points a step or two beside a line make nearly degenerate ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "geometry/planar/convex_polygon.hpp"
#include "geometry/planar/polygon.hpp"

namespace trocar::planar::test {

constexpr int kCases = 1'000'000;

using Wide = __int128;

struct Whole {
  std::int64_t x = 0, y = 0;
  friend bool operator==(const Whole&, const Whole&) = default;
};

inline Whole operator+(Whole p, Whole q) { return {p.x + q.x, p.y + q.y}; }
inline Whole operator-(Whole p, Whole q) { return {p.x - q.x, p.y - q.y}; }
inline Whole operator*(std::int64_t k, Whole p) { return {k * p.x, k * p.y}; }
inline Wide cross(Whole u, Whole v) { return Wide(u.x) * v.y - Wide(u.y) * v.x; }
inline Wide dot(Whole u, Whole v) { return Wide(u.x) * v.x + Wide(u.y) * v.y; }
inline int sign(Wide x) { return (x > 0) - (x < 0); }
inline int side(Whole a, Whole b, Whole p) { return sign(cross(b - a, p - a)); }

inline dvec2 scaled(Whole p, double scale) { return scale * dvec2(static_cast<double>(p.x), static_cast<double>(p.y)); }

inline std::vector<dvec2> scaled(const std::vector<Whole>& polygon, double scale) {
  std::vector<dvec2> result;
  for (const Whole& p : polygon) result.push_back(scaled(p, scale));
  return result;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // 0 .. n-1
  std::int64_t pick(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  std::int64_t within(std::int64_t reach) { return pick(2 * reach + 1) - reach; }
  double uniform(double low, double high) {
    return low + (high - low) * 0x1p-53 * static_cast<double>(engine_() >> 11);
  }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  Whole point(std::int64_t reach) { return {within(reach), within(reach)}; }
  // Returns the extent of a grid: half of the time a small one, else up to `largest`.
  std::int64_t reach(std::int64_t largest) {
    return pick(2) ? 1 + pick(6) : static_cast<std::int64_t>(log_uniform(8.0, static_cast<double>(largest)));
  }
  // Returns a power of two from tiny to huge, 1 half of the time.
  double scale() { return pick(2) ? 1.0 : std::ldexp(1.0, static_cast<int>(within(100))); }

 private:
  std::mt19937_64 engine_;
};

// Returns a point related to the segment a -> b: an end, on its line, a step beside its line, or anywhere.
inline Whole point_about(Dice& dice, Whole a, Whole b, std::int64_t reach) {
  const Whole on_line = a + dice.within(3) * (b - a);
  const auto kind = dice.pick(6);
  if (kind == 0) return dice.pick(2) ? a : b;
  if (kind == 1) return on_line;
  if (kind == 2) return on_line + dice.point(1);
  if (kind == 3) return {(a.x + b.x) / 2, (a.y + b.y) / 2};
  return dice.point(reach);
}

// Returns the counter-clockwise hull without corners along its sides; it has fewer than three corners when all points
// are collinear.
inline std::vector<Whole> hull(std::vector<Whole> points) {
  std::sort(points.begin(), points.end(), [](Whole p, Whole q) { return p.x != q.x ? p.x < q.x : p.y < q.y; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Whole> ring;
  const auto add = [&ring](Whole p, std::size_t floor) {
    while (ring.size() >= floor + 2 && side(ring[ring.size() - 2], ring.back(), p) <= 0) ring.pop_back();
    ring.push_back(p);
  };
  for (const Whole& p : points) add(p, 0);
  const std::size_t lower = ring.size() - 1;
  for (std::size_t i = points.size() - 1; i-- > 0;) add(points[i], lower);
  ring.pop_back();
  return ring;
}

// Returns a strictly convex polygon of at most about `corners` corners: from a grid, a circle, a thin ellipse or a
// parabola.
inline std::vector<Whole> convex_whole(Dice& dice, int corners) {
  while (true) {
    std::vector<Whole> points;
    const int family = static_cast<int>(dice.pick(4));
    const std::int64_t reach = dice.reach(1 << 30);
    const double flat = dice.log_uniform(1e-8, 1.0), size = family == 0 ? 0.0 : std::max(reach, std::int64_t{100});
    for (int i = 0; i < corners; ++i) {
      const double angle = dice.uniform(0.0, 6.283185307179586);
      const std::int64_t x = dice.within(30'000);
      if (family == 0) points.push_back(dice.point(reach));
      if (family == 1) points.push_back({std::llround(size * std::cos(angle)), std::llround(size * std::sin(angle))});
      if (family == 2) {
        const double u = size * std::cos(angle), v = flat * size * std::sin(angle);
        points.push_back({std::llround(0.8 * u - 0.6 * v), std::llround(0.6 * u + 0.8 * v)});
      }
      if (family == 3) points.push_back({x, x * x});
    }
    const std::vector<Whole> ring = hull(points);
    if (ring.size() >= 3) return ring;
  }
}

// A convex polygon with its whole-number corners; its real corners are scale * double(corner).
struct RandomConvex {
  std::vector<Whole> whole;
  double scale;
  ConvexPolygon polygon;
};

inline RandomConvex random_convex(Dice& dice, int most_corners) {
  const int corners = static_cast<int>(dice.log_uniform(3.0, most_corners + 1.0));
  std::vector<Whole> whole = convex_whole(dice, std::max(corners, 3));
  const double scale = dice.scale();
  ConvexPolygon polygon(scaled(whole, scale));
  return {std::move(whole), scale, std::move(polygon)};
}

inline std::int64_t reach_of(const std::vector<Whole>& polygon) {
  std::int64_t reach = 1;
  for (const Whole& p : polygon) reach = std::max({reach, std::abs(p.x), std::abs(p.y)});
  return reach;
}

// Counts the cases of a property test and prints them.
struct Tally {
  const char* what;
  long cases = 0, degenerate = 0, in_band = 0;
  ~Tally() {
    std::printf("    %-34s %8ld cases, %7ld degenerate, %5ld in the band\n", what, cases, degenerate, in_band);
  }
};

// Makes random simple polygons in whole numbers, and decides the polygon tests slowly and simply in 128-bit integers.

inline bool whole_on(Whole a, Whole b, Whole p) { return side(a, b, p) == 0 && dot(a - p, b - p) <= 0; }

inline bool whole_meet(Whole a, Whole b, Whole c, Whole d) {
  if (whole_on(a, b, c) || whole_on(a, b, d) || whole_on(c, d, a) || whole_on(c, d, b)) return true;
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

inline Wide twice_area(const std::vector<Whole>& polygon) {
  Wide twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) twice += cross(polygon[i], polygon[(i + 1) % polygon.size()]);
  return twice;
}

// Returns the winding number by a vertical ray.
inline Location locate_by_winding(const std::vector<Whole>& polygon, Whole p) {
  int winding = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Whole a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    if (whole_on(a, b, p)) return Location::Boundary;
    if (a.x <= p.x && b.x > p.x) winding += side(a, b, p) > 0 ? 0 : 1;
    if (b.x <= p.x && a.x > p.x) winding -= side(a, b, p) < 0 ? 0 : 1;
  }
  return winding != 0 ? Location::Inside : Location::Outside;
}

inline std::vector<Whole> without_repeats(const std::vector<Whole>& polygon) {
  std::vector<Whole> ring;
  for (const Whole& p : polygon)
    if (ring.empty() || !(ring.back() == p)) ring.push_back(p);
  while (ring.size() > 1 && ring.back() == ring.front()) ring.pop_back();
  return ring;
}

// Do any two sides share at most their common corner?
inline bool simple_twin(const std::vector<Whole>& polygon) {
  const std::vector<Whole> c = without_repeats(polygon);
  const std::size_t n = c.size();
  if (n < 3) return false;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      const Whole a = c[i], b = c[(i + 1) % n], d = c[j], e = c[(j + 1) % n];
      if (j == i + 1         ? whole_on(a, b, e) || whole_on(d, e, a)
          : (j + 1) % n == i ? whole_on(d, e, b) || whole_on(a, b, d)
                             : whole_meet(a, b, d, e))
        return false;
    }
  return true;
}

// Returns whether all corners of a simple polygon lie on one side of every edge.
inline bool convex_twin(const std::vector<Whole>& polygon) {
  const std::size_t n = polygon.size();
  int turn = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (const Whole& p : polygon) {
      const int at = side(polygon[i], polygon[(i + 1) % n], p);
      if (at * turn < 0) return false;
      if (at != 0) turn = at;
    }
  return true;
}

// Returns the same outline with corners along its sides, repeated corners, another start and another direction.
inline std::vector<Whole> with_extras(Dice& dice, const std::vector<Whole>& polygon) {
  std::vector<Whole> result;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Whole a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    for (std::int64_t k = dice.pick(8) ? 1 : 1 + dice.pick(3); k > 0; --k) result.push_back(a);
    const Whole middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
    if (dice.pick(4) == 0 && side(a, b, middle) == 0) result.push_back(middle);
  }
  std::rotate(result.begin(), result.begin() + dice.pick(result.size()), result.end());
  if (dice.pick(2)) std::reverse(result.begin(), result.end());
  return result;
}

struct SimpleWhole {
  std::vector<Whole> corners;
  std::int64_t reach;
};

// Starts as a triangle; sides are pulled out to random points if the outline stays simple; finally sheared.
inline SimpleWhole simple_whole(Dice& dice, int corners) {
  const std::int64_t reach = dice.reach(1 << 20);
  std::vector<Whole> c;
  do {
    c = {dice.point(reach), dice.point(reach), dice.point(reach)};
  } while (side(c[0], c[1], c[2]) == 0);
  for (int tries = 4 * corners; tries > 0 && static_cast<int>(c.size()) < corners; --tries) {
    const std::size_t n = c.size(), at = dice.pick(n);
    const Whole a = c[at], b = c[(at + 1) % n], p = dice.point(reach);
    if (side(a, b, p) == 0 || p == c[(at + 2) % n] || p == c[(at + n - 1) % n]) continue;
    bool free = true;
    for (std::size_t i = 0; i < n && free; ++i) {
      const Whole u = c[i], v = c[(i + 1) % n];
      if (i == at) continue;
      // Sides next to the new ones share one corner with them and must have no other common point.
      free = v == a   ? !whole_on(u, v, p) && !whole_on(a, p, u) && !whole_meet(u, v, p, b)
             : u == b ? !whole_on(u, v, p) && !whole_on(p, b, v) && !whole_meet(u, v, a, p)
                      : !whole_meet(u, v, a, p) && !whole_meet(u, v, p, b);
    }
    if (free) c.insert(c.begin() + static_cast<std::ptrdiff_t>(at) + 1, p);
  }
  const std::int64_t shear = dice.within(2);
  for (Whole& p : c) p.x += shear * p.y;
  return {with_extras(dice, c), 3 * reach};
}

// Returns a polygon whose corners lie at increasing angles about the origin, at random distances.
inline std::vector<Whole> star_whole(Dice& dice, int corners) {
  std::vector<Whole> c;
  for (int i = 0; i < corners; ++i) {
    const double angle = 6.283185307179586 * (i + 0.4 * dice.uniform(-1.0, 1.0)) / corners;
    const double far = dice.log_uniform(1e5, 1e6);
    c.push_back({std::llround(far * std::cos(angle)), std::llround(far * std::sin(angle))});
  }
  return c;
}

}  // namespace trocar::planar::test
