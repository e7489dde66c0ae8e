// Defines the sphere as the volume of a tree, centred on the box of the faces below.   Source: section 4.5.5 of the
// thesis, whose spheres enclose octants; ours enclose the faces themselves, so that they follow a deforming organ.
// Units: metres.   Tested in tests/study/tree_build_test.cpp
#pragma once

#include "cpu_collision/trees/aabb.hpp"

namespace trocar {

struct Sphere {
  Lanes4 centre;     // m  x, y, z, 0
  float radius;      // m
  Lanes4 low, high;  // m  box of the faces below: only the fit of the parent reads it

  template <class Points, class Kids>
  static void fit(Sphere& node, const Points& points, const Kids& children, Lanes4 rounding) {
    Lanes4 low = lanes(std::numeric_limits<float>::max()), high = -low;
    points.each([&](Lanes4 p) { low = min(low, p), high = max(high, p); });
    children.each([&](const Sphere& child) { low = min(low, child.low), high = max(high, child.high); });
    const Lanes4 centre = first_three(0.5f * (low + high)), half = first_three(high - centre);
    float squared = 0.f, around = 0.f;
    points.each([&](Lanes4 p) {
      const Lanes4 off = first_three(p - centre);
      squared = std::fmax(squared, sum(off * off));
    });
    children.each([&](const Sphere& child) {
      const Lanes4 off = child.centre - centre;
      around = std::fmax(around, std::sqrt(sum(off * off)) + child.radius);
    });
    const float radius = std::fmin(std::sqrt(sum(half * half)), std::fmax(std::sqrt(squared), around));
    node = {centre, radius + 4.f * rounding[0], low, high};
  }

  struct Tool {
    const ConvexTool& convex;
    explicit Tool(const ConvexTool& tool) : convex(tool) {}
  };
};

inline float least_distance(const Sphere& sphere, Lanes4 point) {
  const Lanes4 off = point - sphere.centre;
  return std::fmax(0.f, std::sqrt(sum(off * off)) - sphere.radius);
}

inline BoxAnswer meets(const Sphere::Tool& tool, const Sphere& sphere) {
  const Lanes4 radius = lanes(sphere.radius);
  const Lanes4 middle = plane_distances(tool.convex.lanes[0], sphere.centre);
  if (negative_lanes(middle + radius)) return BoxAnswer::Outside;
  const Lanes4 middle2 = plane_distances(tool.convex.lanes[1], sphere.centre);
  if (negative_lanes(middle2 + radius)) return BoxAnswer::Outside;
  if (!negative_lanes(min(middle, middle2) - radius - lanes(2.f * tool.convex.slack))) return BoxAnswer::Inside;
  // Beyond the ends of the volume its planes rarely separate a sphere from the tool; its box does so more often.
  const ObbNode& box = tool.convex.box;
  const Lanes4 off = dot_rows(box.axis_x, box.axis_y, box.axis_z, sphere.centre - box.centre);
  const Lanes4 outside = max(abs(off) - box.extent, lanes(0.f));
  return sum(outside * outside) > sphere.radius * sphere.radius ? BoxAnswer::Outside : BoxAnswer::Crosses;
}

inline bool overlap(const Sphere& a, const Sphere& b) {
  const Lanes4 off = a.centre - b.centre;
  const float radius = a.radius + b.radius;
  return sum(off * off) <= radius * radius;
}

inline bool crosses(const Sphere& sphere, const LinePart& line) {
  const Lanes4 off = sphere.centre - line.from;
  const float along = sum(line.along * line.along);
  const float t = along > 0.f ? std::fmin(std::fmax(sum(off * line.along) / along, line.first), line.last) : 0.f;
  const Lanes4 gap = off - lanes(t) * line.along;
  const float radius = sphere.radius + line.slack;
  return sum(gap * gap) <= radius * radius;
}

inline float size_of(const Sphere& sphere) { return 4.f * sphere.radius * sphere.radius; }

}  // namespace trocar
