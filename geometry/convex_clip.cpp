#include "geometry/convex_clip.hpp"

#include <array>

namespace trocar {
namespace {

// Each plane adds at most one corner to a convex polygon. Twice that also covers slivers that rounding makes slightly
// non-convex.
constexpr int kMaxCorners = 3 + 2 * kMaxPlanes;

struct Polygon {
  std::array<glm::dvec3, kMaxCorners> corners;  // [corner] m
  int count = 0;
};

double height_over(const glm::vec4& plane, const glm::dvec3& point) {
  return double(plane.x) * point.x + double(plane.y) * point.y + double(plane.z) * point.z + double(plane.w);
}

// Keeps the part of `polygon` on the inner side of `plane`; points on the plane are inside.
void clip(Polygon& polygon, const glm::vec4& plane) {
  std::array<double, kMaxCorners> heights;
  bool all_inside = true;
  for (int i = 0; i < polygon.count; ++i) {
    heights[i] = height_over(plane, polygon.corners[i]);
    all_inside = all_inside && heights[i] >= 0.0;
  }
  if (all_inside) return;

  Polygon kept;
  for (int i = 0; i < polygon.count && kept.count + 2 <= kMaxCorners; ++i) {
    const int next = i + 1 == polygon.count ? 0 : i + 1;
    const glm::dvec3 &from = polygon.corners[i], &to = polygon.corners[next];
    const double h = heights[i], h_next = heights[next];
    if (h >= 0.0) kept.corners[kept.count++] = from;
    if ((h > 0.0 && h_next < 0.0) || (h < 0.0 && h_next > 0.0))
      kept.corners[kept.count++] = from + (to - from) * (h / (h - h_next));
  }
  polygon = kept;
}

}  // namespace

bool face_touches_volume(const Triangle& face, const ToolVolume& volume) {
  Polygon polygon;
  polygon.corners[0] = face.a;
  polygon.corners[1] = face.b;
  polygon.corners[2] = face.c;
  polygon.count = 3;
  for (int i = 0; i < volume.plane_count; ++i) {
    clip(polygon, volume.planes[i]);
    if (polygon.count == 0) return false;
  }
  return true;
}

}  // namespace trocar
