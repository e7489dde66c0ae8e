// Makes random simple polygons in whole numbers, and decides the polygon tests slowly and simply in 128-bit integers.
#pragma once

#include "geometry/planar/polygon.hpp"
#include "tests/geometry/planar_random.hpp"

namespace trocar::planar::test {

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
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const Whole a = c[i], b = c[(i + 1) % n], d = c[j], e = c[(j + 1) % n];
      if (j == i + 1         ? whole_on(a, b, e) || whole_on(d, e, a)
          : (j + 1) % n == i ? whole_on(d, e, b) || whole_on(a, b, d)
                             : whole_meet(a, b, d, e))
        return false;
    }
  }
  return true;
}

// Returns whether all corners of a simple polygon lie on one side of every edge.
inline bool convex_twin(const std::vector<Whole>& polygon) {
  const std::size_t n = polygon.size();
  int turn = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (const Whole& p : polygon) {
      const int at = side(polygon[i], polygon[(i + 1) % n], p);
      if (at * turn < 0) return false;
      if (at != 0) turn = at;
    }
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
