// A safe or forbidden zone drawn in the endoscope image, and how far a point or the tool is from it, each frame.
// Distances are to the outline, negative inside. Source: seeds 001 and 004 bring the parts; the zone is ours.
// Units: image coordinates, in half heights of the image (geometry/planar/image_projection.hpp).
// Checked against dense sampling in tests/geometry/planar_zone_test.cpp
#pragma once

#include "geometry/planar/convex_gap.hpp"
#include "geometry/planar/image_projection.hpp"

namespace trocar::planar {

enum class ZoneKind { Safe, Forbidden };

// The depth of a shaft inside a zone is found to this: a two-thousandth of a pixel in an image of 1000 lines.
constexpr double kDepthTolerance = 1e-6;  // half heights

// `distance` is that of the nearest place of the tool while it is outside, and minus the depth of its deepest place
// once any of it is inside; 0 is touching. on_tool is that place, on_zone the nearest point of the outline to it.
struct ZoneDistance {
  double distance = 0.0;  // half heights
  dvec2 on_tool{0.0}, on_zone{0.0};
};

class Zone {
 public:
  // Any simple polygon, either orientation. Throws InputError with the sentence of simple_fault().
  Zone(Corners outline, ZoneKind kind);

  ZoneKind kind() const { return kind_; }
  Corners outline() const { return outline_; }
  std::span<const ConvexPolygon> pieces() const { return pieces_; }

  // Inside or on the outline, exactly. O(pieces * log n).
  bool contains(const dvec2& p) const;

  // Of a finite point, for instance the tip, and of a segment, for instance the shaft. Neither allocates. Outside:
  // O(pieces * log n) after a box test; inside: O(n), for a segment times the steps of a bisection.
  ZoneDistance distance(const dvec2& p) const;
  ZoneDistance distance(const Segment& shaft) const;

 private:
  std::vector<dvec2> outline_;         // as given
  std::vector<ConvexPolygon> pieces_;  // cover the zone once
  ZoneKind kind_;
};

}  // namespace trocar::planar
