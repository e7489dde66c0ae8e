#include "mesh/polygons.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "geometry/exact_sign.hpp"

namespace trocar {
namespace {

// Factor on the shape of an ear to be avoided: every other proper ear is cut before it.
constexpr double kAvoided = 1e-9;

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

class Clipper {
 public:
  Clipper(std::span<const glm::dvec2> points, std::span<const char> shared, FillRing ring)
      : points_(points), shared_(shared), ring_(std::move(ring)), blocker_(ring_.size(), kUnknown) {
    const auto [low, high] = std::minmax_element(ring_.begin(), ring_.end());
    if (!ring_.empty()) first_ = *low, copies_.resize(*high - *low + 1);
    for (const std::size_t point : ring_) ++copies_[point - first_];
    for (std::size_t i = 0; i < ring_.size(); ++i) shape_.push_back(shape(i));
  }

  ClippedEars clip() {
    ClippedEars ears;
    while (ring_.size() > 3) {
      const std::size_t ear = best_ear();
      ears.proper = ears.proper && shape_[ear] > 0.0 && blocker_[ear] == kUnknown;
      ears.triangles.push_back({at(ear + ring_.size() - 1), at(ear), at(ear + 1)});
      --copies_[ring_[ear] - first_];
      ring_.erase(ring_.begin() + static_cast<std::ptrdiff_t>(ear));
      shape_.erase(shape_.begin() + static_cast<std::ptrdiff_t>(ear));
      blocker_.erase(blocker_.begin() + static_cast<std::ptrdiff_t>(ear));
      for (const std::size_t i : {(ear + ring_.size() - 1) % ring_.size(), ear % ring_.size()})
        shape_[i] = shape(i), blocker_[i] = kUnknown;
    }
    if (ring_.size() == 3) {
      ears.proper = ears.proper && shape(1) > 0.0;
      ears.triangles.push_back({ring_[0], ring_[1], ring_[2]});
    }
    return ears;
  }

 private:
  std::size_t at(std::size_t i) const { return ring_[i % ring_.size()]; }

  // Returns 1 for an equilateral triangle, a negative number when it is turned over.
  double shape(std::size_t i) const {
    const glm::dvec2 &a = points_[at(i + ring_.size() - 1)], &b = points_[at(i)], &c = points_[at(i + 1)];
    const double sides = glm::dot(b - a, b - a) + glm::dot(c - b, c - b) + glm::dot(a - c, a - c);
    const bool avoided = !shared_.empty() && shared_[at(i + ring_.size() - 1)] && shared_[at(i)] && shared_[at(i + 1)];
    return sides > 0.0 ? 2.0 * std::sqrt(3.0) * turn_of(a, b, c) / sides * (avoided ? kAvoided : 1.0) : 0.0;
  }

  // The best-shaped ear that contains no other point; when there is none, the best-shaped of all.
  std::size_t best_ear() {
    std::size_t first = ring_.size();
    while (true) {
      std::size_t best = ring_.size(), of_all = ring_.size();
      for (std::size_t i = 0; i < ring_.size(); ++i) {
        if (of_all == ring_.size() || shape_[i] > shape_[of_all]) of_all = i;
        if (blocker_[i] != kUnknown && copies_[blocker_[i] - first_] > 0) continue;
        if (best == ring_.size() || shape_[i] > shape_[best]) best = i;
      }
      if (first == ring_.size()) first = of_all;
      if (best == ring_.size() || !(shape_[best] > 0.0)) return first;
      blocker_[best] = blocker_of(best);
      if (blocker_[best] == kUnknown) return best;
    }
  }

  // Returns a point of the ring in the ear; kUnknown when there is none.
  std::size_t blocker_of(std::size_t i) const {
    const glm::dvec2 &a = points_[at(i + ring_.size() - 1)], &b = points_[at(i)], &c = points_[at(i + 1)];
    for (const std::size_t other : ring_) {
      const glm::dvec2& p = points_[other];
      if (turn_of(a, b, p) < 0.0 || turn_of(b, c, p) < 0.0 || turn_of(c, a, p) < 0.0) continue;
      if (!same_point(p, a) && !same_point(p, b) && !same_point(p, c)) return other;
    }
    return kUnknown;
  }

  std::span<const glm::dvec2> points_;
  std::span<const char> shared_;
  FillRing ring_;
  std::vector<double> shape_;          // [i] of the ear at corner i of the ring
  std::vector<std::size_t> blocker_;   // [i] a point in this ear, while it is in the ring; kUnknown: not examined
  std::size_t first_ = 0;              // lowest point
  std::vector<std::uint32_t> copies_;  // [point - first_] how often it is in the ring
};

}  // namespace

ClippedEars clip_ears(std::span<const glm::dvec2> points, FillRing ring, std::span<const char> shared) {
  return Clipper(points, shared, std::move(ring)).clip();
}

}  // namespace trocar

namespace trocar::mesh_io {
namespace {

constexpr std::size_t kMostCorners = 10000;  // of a concave polygon: the work grows with the square
// Twice the area of a triangle with area, relative to the square of the polygon's size.
constexpr double kFlat = 1e-9;

// The corners in the plane, counter-clockwise: the coordinate plane on which the polygon is largest, so that its
// coordinates are exact up to the scale, a power of two that makes it about 1 long. Empty when it has no area.
std::vector<glm::dvec2> projected(std::span<const glm::dvec3> points, std::span<const std::uint32_t> corners) {
  const glm::dvec3 base = points[corners[0]];
  glm::dvec3 normal(0.0), low(base), high(base);
  for (std::size_t k = 1; k + 1 < corners.size(); ++k)
    normal += glm::cross(points[corners[k]] - base, points[corners[k + 1]] - base);
  for (const std::uint32_t corner : corners) low = glm::min(low, points[corner]), high = glm::max(high, points[corner]);
  const glm::dvec3 size = glm::abs(normal), extent = high - low;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const double longest = std::max({extent.x, extent.y, extent.z});
  if (!(size[axis] > kFlat * longest * longest)) return {};
  const int u = (axis + (normal[axis] > 0.0 ? 1 : 2)) % 3, v = (axis + (normal[axis] > 0.0 ? 2 : 1)) % 3;
  const double scale = std::ldexp(1.0, -std::ilogb(longest));
  std::vector<glm::dvec2> flat;
  flat.reserve(corners.size());
  for (const std::uint32_t corner : corners) flat.push_back(scale * glm::dvec2(points[corner][u], points[corner][v]));
  return flat;
}

// Returns whether the triangle runs counter-clockwise and is not a line.
bool has_area(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c) {
  const double longest = std::max({glm::dot(b - a, b - a), glm::dot(c - b, c - b), glm::dot(a - c, a - c)});
  return turn_of(a, b, c) > 1e-5 * longest;  // as has_area() of exact_sign.hpp
}

// Returns whether the fan around the first corner covers the polygon once. Seen from there the corners turn one way,
// and never pass the direction of the second corner again.
bool fan_covers(const std::vector<glm::dvec2>& ring) {
  for (std::size_t k = 1; k + 1 < ring.size(); ++k) {
    if (!has_area(ring[0], ring[k], ring[k + 1])) return false;
    if (k > 1 && turn_of(ring[0], ring[1], ring[k]) < 0.0 && turn_of(ring[0], ring[1], ring[k + 1]) >= 0.0)
      return false;
  }
  return true;
}

bool crosses_itself(const std::vector<glm::dvec2>& ring) {
  const std::size_t n = ring.size();
  for (std::size_t i = 0; i < n; ++i) {
    const glm::dvec2 &a = ring[i], &b = ring[(i + 1) % n];
    const glm::dvec2 low = glm::min(a, b), high = glm::max(a, b);
    for (std::size_t j = i + 2; j < n; ++j) {
      const glm::dvec2 &c = ring[j], &d = ring[(j + 1) % n];
      if (std::max(c.x, d.x) < low.x || std::min(c.x, d.x) > high.x || std::max(c.y, d.y) < low.y ||
          std::min(c.y, d.y) > high.y)
        continue;
      if (planar::side_of_line(a, b, c) * planar::side_of_line(a, b, d) < 0 &&
          planar::side_of_line(c, d, a) * planar::side_of_line(c, d, b) < 0)
        return true;
    }
  }
  return false;
}

enum class Outcome { Split, Bad, TooLarge };

Outcome split_one(std::span<const glm::dvec3> points, std::span<const std::uint32_t> corners,
                  std::span<glm::uvec3> faces) {
  const std::vector<glm::dvec2> ring = projected(points, corners);
  if (ring.empty()) return Outcome::Bad;
  if (fan_covers(ring)) return Outcome::Split;
  if (ring.size() > kMostCorners) return Outcome::TooLarge;
  if (crosses_itself(ring)) return Outcome::Bad;
  FillRing order(ring.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  const ClippedEars ears = clip_ears(ring, std::move(order));
  for (std::size_t k = 0; k < faces.size(); ++k)
    faces[k] = {corners[ears.triangles[k][0]], corners[ears.triangles[k][1]], corners[ears.triangles[k][2]]};
  return Outcome::Split;
}

}  // namespace

void Polygons::add(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces) {
  if (corners.size() > 3) ranges_.push_back({faces.size(), static_cast<std::uint32_t>(corners.size() - 2)});
  for (std::size_t k = 2; k < corners.size(); ++k) faces.emplace_back(corners[0], corners[k - 1], corners[k]);
}

void Polygons::split(FileMesh& mesh) const {
  std::size_t bad = 0, large = 0;
  std::vector<std::uint32_t> corners;
  for (const Range& range : ranges_) {
    const std::span<glm::uvec3> fan = std::span(mesh.faces).subspan(range.first, range.count);
    corners.assign({fan[0].x, fan[0].y});
    for (const glm::uvec3& face : fan) corners.push_back(face.z);
    const Outcome outcome = split_one(mesh.points, corners, fan);
    bad += outcome == Outcome::Bad;
    large += outcome == Outcome::TooLarge;
  }
  if (bad > 0)
    mesh.facts.notes.push_back(std::to_string(bad) +
                               (bad == 1
                                    ? " polygon of the file crosses itself or has no plane; it became a fan"
                                    : " polygons of the file cross themselves or have no plane; they became fans") +
                               " of triangles around the first corner");
  if (large > 0)
    mesh.facts.notes.push_back(std::to_string(large) + " concave polygon" + (large == 1 ? " has" : "s have") +
                               " more than " + std::to_string(kMostCorners) +
                               " corners and became fans; export the mesh as triangles");
}

}  // namespace trocar::mesh_io
