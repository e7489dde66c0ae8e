#include "geometry/planar/triangulate.hpp"

#include <algorithm>
#include <utility>

#include "geometry/error.hpp"

namespace trocar::planar {
namespace {

bool inside_triangle(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& p) {
  return side_of_line(a, b, p) >= 0 && side_of_line(b, c, p) >= 0 && side_of_line(c, a, p) >= 0;
}

// The polygon that remains while ears are cut off: a ring of corner indices, counter-clockwise.
class Remains {
 public:
  Remains(Corners polygon, const std::vector<std::uint32_t>& ring)
      : polygon_(polygon), next_(polygon.size()), previous_(polygon.size()), left_(ring.size()), at_(ring.front()) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::uint32_t after = ring[(i + 1) % ring.size()];
      next_[ring[i]] = after;
      previous_[after] = ring[i];
    }
  }

  std::vector<CornerTriangle> cut_all() {
    std::vector<CornerTriangle> triangles;
    triangles.reserve(left_ - 2);
    // A simple polygon always has an ear, so this limit is never reached; it guarantees that the loop ends.
    for (std::size_t idle = 0; left_ >= 3 && idle <= left_; ++idle) {
      const int turn = side_of_line(polygon_[previous_[at_]], polygon_[at_], polygon_[next_[at_]]);
      const bool is_ear = turn > 0 && holds_no_corner();
      if (is_ear) triangles.push_back({previous_[at_], at_, next_[at_]});
      if (is_ear || turn == 0) idle = 0, drop();
      at_ = next_[at_];
    }
    return triangles;
  }

 private:
  bool holds_no_corner() const {
    const std::uint32_t before = previous_[at_], after = next_[at_];
    const dvec2 &a = polygon_[before], &b = polygon_[at_], &c = polygon_[after];
    const dvec2 low = glm::min(glm::min(a, b), c), high = glm::max(glm::max(a, b), c);
    for (std::uint32_t i = next_[after]; i != before; i = next_[i]) {
      const dvec2& p = polygon_[i];
      const bool in_box = p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y;
      if (in_box && inside_triangle(a, b, c, p)) return false;
    }
    return true;
  }

  void drop() {
    next_[previous_[at_]] = next_[at_];
    previous_[next_[at_]] = previous_[at_];
    --left_;
  }

  Corners polygon_;
  std::vector<std::uint32_t> next_, previous_;  // [corner]
  std::size_t left_;
  std::uint32_t at_;
};

// The directed sides of all triangles, three consecutive ones each; a side of the outline is its own `twin`.
struct HalfSides {
  std::vector<std::uint32_t> origin, next, previous, twin;  // [half side]
};

HalfSides half_sides(const std::vector<CornerTriangle>& triangles) {
  HalfSides h;
  std::vector<std::array<std::uint32_t, 3>> keyed;  // lower corner, higher corner, half side
  for (std::uint32_t t = 0; t < triangles.size(); ++t) {
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::uint32_t here = 3 * t + k, from = triangles[t][k], to = triangles[t][(k + 1) % 3];
      h.origin.push_back(from);
      h.next.push_back(3 * t + (k + 1) % 3);
      h.previous.push_back(3 * t + (k + 2) % 3);
      h.twin.push_back(here);
      keyed.push_back({std::min(from, to), std::max(from, to), here});
    }
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i + 1 < keyed.size(); ++i) {
    if (keyed[i][0] != keyed[i + 1][0] || keyed[i][1] != keyed[i + 1][1]) continue;
    h.twin[keyed[i][2]] = keyed[i + 1][2];
    h.twin[keyed[i + 1][2]] = keyed[i][2];
  }
  return h;
}

// Removes each diagonal whose two ends stay convex without it. True for the removed half sides.
std::vector<bool> remove_diagonals(Corners polygon, HalfSides& h) {
  std::vector<bool> removed(h.origin.size(), false);
  // Is the corner convex where the outline continues from `in` to `out`?
  const auto convex = [&](std::uint32_t in, std::uint32_t out) {
    return side_of_line(polygon[h.origin[in]], polygon[h.origin[out]], polygon[h.origin[h.next[out]]]) >= 0;
  };
  for (std::uint32_t s = 0; s < h.origin.size(); ++s) {
    const std::uint32_t t = h.twin[s];
    if (t <= s || !convex(h.previous[s], h.next[t]) || !convex(h.previous[t], h.next[s])) continue;
    for (const auto& [in, out] : {std::pair{h.previous[s], h.next[t]}, std::pair{h.previous[t], h.next[s]}}) {
      h.next[in] = out;
      h.previous[out] = in;
    }
    removed[s] = removed[t] = true;
  }
  return removed;
}

}  // namespace

std::vector<CornerTriangle> triangulate(Corners polygon) {
  if (const std::string fault = simple_fault(polygon); !fault.empty()) throw InputError(fault);
  std::vector<std::uint32_t> ring = distinct_corners(polygon);
  if (signed_area(polygon) < 0.0) std::reverse(ring.begin(), ring.end());
  return Remains(polygon, ring).cut_all();
}

ConvexPieces convex_pieces(Corners polygon) {
  HalfSides h = half_sides(triangulate(polygon));
  std::vector<bool> done = remove_diagonals(polygon, h);
  ConvexPieces pieces{{}, {0}};
  for (std::uint32_t s = 0; s < h.origin.size(); ++s) {
    if (done[s]) continue;
    for (std::uint32_t at = s; !done[at]; at = h.next[at]) {
      pieces.corner.push_back(h.origin[at]);
      done[at] = true;
    }
    pieces.start.push_back(static_cast<std::uint32_t>(pieces.corner.size()));
  }
  return pieces;
}

}  // namespace trocar::planar
