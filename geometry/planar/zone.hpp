// Defines a safe or forbidden zone in the endoscope image, projects the tool into the image, and computes the distance
// of a point or the tool from the zone in each frame. Distances are to the outline, negative inside. Source: documents
// 001 and 004 (docs/planar.md) for the parts; the zone is ours. Checked with perspective cameras and against dense
// sampling in tests/geometry/planar_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/planar/convex_polygon.hpp"
#include "geometry/planar/polygon.hpp"

namespace trocar::planar {

struct ImageCamera {
  glm::dmat4 view_projection{1.0};  // world, m -> clip space
  double aspect = 1.0;              // 1   width / height of the image, > 0
};

// A straight shaft in the image: a towards the trocar, b towards the tip. It is cut at the near plane; tip_visible says
// whether b is still the tip. visible is false when the whole shaft is behind the near plane or the pose is not finite.
struct ImageTool {
  bool visible = false, tip_visible = false;
  Segment shaft;
};

// `pivot` and `tip`: m, world. The image is in half heights: x right, y up, 0 in its middle.
ImageTool project_tool(const ImageCamera& camera, const glm::dvec3& pivot, const glm::dvec3& tip);

enum class ZoneKind { Safe, Forbidden };

// Precision of a shaft's depth inside a zone: a two-thousandth of a pixel in an image of 1000 lines.
constexpr double kDepthTolerance = 1e-6;  // half heights

// Outside: `distance` is that of the tool's nearest point. When any part of the tool is inside: minus the depth of its
// deepest point. 0 is touching. on_tool is that point, on_zone the nearest point of the outline to it.
struct ZoneDistance {
  double distance = 0.0;  // half heights
  dvec2 on_tool{0.0}, on_zone{0.0};
};

class Zone {
 public:
  // Accepts any simple polygon, of either orientation. Throws InputError with the sentence of simple_fault().
  Zone(Corners outline, ZoneKind kind);

  ZoneKind kind() const { return kind_; }                            // as given
  Corners outline() const { return outline_; }                       // [corner] half heights, as given
  std::span<const ConvexPolygon> pieces() const { return pieces_; }  // [piece] they cover the zone once

  // Returns whether the point lies inside or on the outline, exactly. O(pieces * log n).
  bool contains(const dvec2& p) const;

  // Computes the distance of a finite point (for example the tip) or of a segment (for example the shaft). Neither
  // function allocates. The cost is O(pieces * log n) outside, after a box test, and O(n) inside; for a segment inside
  // it is multiplied by the steps of a bisection.
  ZoneDistance distance(const dvec2& p) const;
  ZoneDistance distance(const Segment& shaft) const;

 private:
  std::vector<dvec2> outline_;         // as given
  std::vector<ConvexPolygon> pieces_;  // cover the zone once
  ZoneKind kind_;
};

}  // namespace trocar::planar
