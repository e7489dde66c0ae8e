// Circles against lines, segments and boxes, at rest and moving: contact, instant of impact, bounce, stop short.
// Source: seeds 001 IV (circle, line, segment, normal, bounce), V-C-4 (stop short of a wall), VI (circle and box). We
// differ: touching counts; the normal of a contact with a segment's end points from that end; it is defined where the
// centre lies on the line; impacts are found along the motion, so that nothing is jumped over; the gap left before a
// wall is a distance, not a share of the step. Any unit.
// Checked against sampling-free twins in tests/geometry/planar_circle_test.cpp
#pragma once

#include <span>

#include "geometry/planar/segment.hpp"

namespace trocar::planar {

// radius 0 is a point.
struct Circle {
  dvec2 centre{0.0};
  double radius = 0.0;  // >= 0
};

// Axis-aligned; low <= high.
struct Box {
  dvec2 low{0.0}, high{0.0};
};

// `point` is the nearest point of the obstacle's boundary, `normal` the unit vector from it to the centre (for a box
// with the centre inside: out of the box), `gap` the distance left between circle and obstacle, negative by how far
// they overlap. touches: gap <= 0.
struct Contact {
  bool touches = false;
  dvec2 point{0.0}, normal{0.0};
  double gap = 0.0;
};

// The line through line.a and line.b, which must differ. A centre on it gets the normal to the left of a -> b.
Contact circle_line(const Circle& circle, const Segment& line);
// A centre on the segment gets the normal to its left; for a zero-length segment +x.
Contact circle_segment(const Circle& circle, const Segment& segment);
Contact circle_box(const Circle& circle, const Box& box);

// The first instant at which a moving circle touches: centre(time) = centre + time step, time in [0, 1]. A circle that
// touches at the start hits at 0.
struct Impact {
  bool hits = false;
  double time = 0.0;                           // 1   share of the step
  dvec2 centre{0.0}, point{0.0}, normal{0.0};  // centre then, point of impact, unit normal towards the centre
};

Impact moving_circle_line(const Circle& circle, const dvec2& step, const Segment& line);
Impact moving_circle_segment(const Circle& circle, const dvec2& step, const Segment& segment);

// A velocity after a bounce: the part along the unit normal turned round and scaled by `restitution` in [0, 1], the
// rest kept. A velocity that already leaves is returned unchanged.
dvec2 bounce(const dvec2& velocity, const dvec2& normal, double restitution);

// The largest share of the step, in [0, 1], that a circle (or point: radius 0) may go before it comes nearer than `gap`
// to one of the walls. If it starts nearer than that, it may move away from that wall (share 1) but not closer (0).
double stop_short(const Circle& circle, const dvec2& step, std::span<const Segment> walls, double gap);

}  // namespace trocar::planar
