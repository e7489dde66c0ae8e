// Computes contact, time of impact, bounce, and stop before a wall of a circle with lines, segments and boxes, at rest
// and moving. Source: document 001 (docs/planar.md) IV (circle, line, segment, normal, bounce), V-C-4 (stop before a
// wall), VI (circle and box). We differ: touching counts as contact; at a segment's end the contact normal points from
// that end; the normal is defined where the centre lies on the line; impacts are found along the motion, so that a
// circle cannot jump over a wall; the gap left before a wall is a distance, not a fraction of the step. Any unit.
// Checked against slow versions without shared formulas in tests/study/shapes_test.cpp
#pragma once

#include <span>

#include "geometry/planar/polygon.hpp"

namespace trocar::planar {

// A circle of radius 0 is a point.
struct Circle {
  dvec2 centre{0.0};
  double radius = 0.0;  // >= 0
};

// Axis-aligned; low <= high.
struct Box {
  dvec2 low{0.0}, high{0.0};
};

// `point` is the nearest point of the obstacle's boundary. `normal` is the unit vector from it to the centre (out of
// the box when the centre is inside a box). `gap` is the distance between circle and obstacle, or minus the depth of
// their overlap. touches: gap <= 0.
struct Contact {
  bool touches = false;
  dvec2 point{0.0}, normal{0.0};
  double gap = 0.0;
};

// Computes the contact with the infinite line through line.a and line.b, which must differ. For a centre on the line,
// the normal points to the left of a -> b.
Contact circle_line(const Circle& circle, const Segment& line);
// Computes the contact with a segment. For a centre on the segment, the normal points to its left; for a segment of
// zero length it is +x.
Contact circle_segment(const Circle& circle, const Segment& segment);
Contact circle_box(const Circle& circle, const Box& box);  // a centre inside leaves by the nearest side

// The first time at which a moving circle touches: centre(time) = centre + time step, time in [0, 1]. A circle that
// touches at the start hits at time 0.
struct Impact {
  bool hits = false;
  double time = 0.0;                           // 1   fraction of the step
  dvec2 centre{0.0}, point{0.0}, normal{0.0};  // at that time: centre, point of impact, unit normal towards the centre
};

// Both return the first contact during the motion by `step`. The line is infinite; the segment has ends.
Impact moving_circle_line(const Circle& circle, const dvec2& step, const Segment& line);
Impact moving_circle_segment(const Circle& circle, const dvec2& step, const Segment& segment);  // its ends included

// Returns the velocity after a bounce: the component along the unit normal is reversed and scaled by `restitution` in
// [0, 1], the tangential component is kept. A velocity that already points away is returned unchanged.
dvec2 bounce(const dvec2& velocity, const dvec2& normal, double restitution);

// Returns the largest fraction of the step, in [0, 1], that a circle (or point: radius 0) can move without coming
// nearer than `gap` to any wall. If it starts nearer than that, it may move away from that wall (1) but not closer (0).
double stop_short(const Circle& circle, const dvec2& step, std::span<const Segment> walls, double gap);

}  // namespace trocar::planar
