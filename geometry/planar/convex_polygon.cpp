#include "geometry/planar/convex_polygon.hpp"

#include <algorithm>

#include "geometry/error.hpp"
#include "geometry/planar/bimodal.hpp"

namespace trocar::planar {
namespace {

FarCorners scan_axis(Corners corners, const dvec2& axis) {
  const dvec2 turned = quarter_turn(axis);
  FarCorners far;
  for (std::uint32_t i = 1; i < corners.size(); ++i) {
    const double ahead = glm::dot(axis, corners[i]), best = glm::dot(axis, corners[far.first]);
    if (ahead > best) far = {i, i};
    if (ahead != best) continue;
    if (glm::dot(turned, corners[i]) < glm::dot(turned, corners[far.first])) far.first = i;
    if (glm::dot(turned, corners[i]) > glm::dot(turned, corners[far.last])) far.last = i;
  }
  return far;
}

// Returns all corners of the plateau around a largest corner.
template <class Compare>
FarCorners with_equals(std::size_t n, const Compare& compare) {
  const std::size_t peak = bimodal_maximum(n, compare);
  const std::size_t before = peak > 0 ? peak - 1 : n - 1, after = peak + 1 < n ? peak + 1 : 0;
  FarCorners far{static_cast<std::uint32_t>(peak), static_cast<std::uint32_t>(peak)};
  if (compare(before, peak) == 0) far.first = static_cast<std::uint32_t>(before);
  if (compare(after, peak) == 0) far.last = static_cast<std::uint32_t>(after);
  return far;
}

}  // namespace

ConvexView convex_view(Corners strictly_convex) {
  ConvexView view{strictly_convex};
  for (std::size_t k = 0; k < kAxisDirections.size(); ++k)
    view.axis_ends[k] = scan_axis(strictly_convex, kAxisDirections[k]);
  return view;
}

ConvexPolygon::ConvexPolygon(Corners polygon) {
  if (const std::string fault = convex_fault(polygon); !fault.empty()) throw InputError(fault);
  const std::vector<std::uint32_t> ring = distinct_corners(polygon);
  const std::size_t n = ring.size();
  bool clockwise = false;
  for (std::size_t i = 0; i < n; ++i) {
    const int turn = side_of_line(polygon[ring[(i + n - 1) % n]], polygon[ring[i]], polygon[ring[(i + 1) % n]]);
    if (turn != 0) corners_.push_back(polygon[ring[i]]);
    clockwise = clockwise || turn < 0;
  }
  if (clockwise) std::reverse(corners_.begin(), corners_.end());
  axis_ends_ = convex_view(corners_).axis_ends;
}

bool contains(const ConvexView& polygon, const dvec2& p) {
  const Corners c = polygon.corners;
  const std::size_t n = c.size();
  if (side_of_line(c[0], c[1], p) < 0 || side_of_line(c[0], c[n - 1], p) > 0) return false;
  std::size_t low = 1, high = n - 1;  // p lies left of c0 -> c[low]
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (side_of_line(c[0], c[middle], p) >= 0 ? low : high) = middle;
  }
  return side_of_line(c[low], c[low + 1], p) >= 0;
}

FarCorners farthest(const ConvexView& polygon, const dvec2& direction) {
  const Corners c = polygon.corners;
  return with_equals(c.size(),
                     [&](std::size_t i, std::size_t j) { return dot_sign(dvec2(0.0), direction, c[j], c[i]); });
}

FarCorners farthest_left(const ConvexView& polygon, const dvec2& a, const dvec2& b) {
  const Corners c = polygon.corners;
  return with_equals(c.size(), [&](std::size_t i, std::size_t j) { return cross_sign(a, b, c[j], c[i]); });
}

}  // namespace trocar::planar
