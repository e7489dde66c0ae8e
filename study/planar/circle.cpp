#include "study/planar/circle.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace trocar::planar {
namespace {

dvec2 left_normal(const Segment& s) {
  const dvec2 along = s.b - s.a;
  const double length = glm::length(along);
  return length > 0.0 ? quarter_turn(along) / length : dvec2(1.0, 0.0);
}

Contact contact_at(const Circle& circle, const dvec2& point, const dvec2& normal_on_it) {
  const dvec2 apart = circle.centre - point;
  const double distance = glm::length(apart), gap = distance - circle.radius;
  return {gap <= 0.0, point, distance > 0.0 ? apart / distance : normal_on_it, gap};
}

// Returns the time at which a point at m + t step, which starts outside, comes within `radius` of the origin.
std::optional<double> time_into_circle(const dvec2& m, const dvec2& step, double radius) {
  const double closing = -glm::dot(m, step), away = glm::length(m);
  if (closing <= 0.0) return std::nullopt;
  const double squared = glm::dot(step, step), miss = cross(m, step);
  const double under = squared * radius * radius - miss * miss;  // (length along the chord)^2 |step|^2
  if (under < 0.0) return std::nullopt;
  const double time = std::max(away - radius, 0.0) * (away + radius) / (closing + std::sqrt(under));
  return time <= 1.0 ? std::optional(time) : std::nullopt;
}

// Returns the time at which the centre enters the band of half-width `radius` around the line; 0 if it starts inside
// the band and approaches the line.
std::optional<double> time_into_band(const Circle& circle, const dvec2& step, const dvec2& on_line,
                                     const dvec2& normal) {
  const double height = glm::dot(circle.centre - on_line, normal), speed = glm::dot(step, normal);
  const double side = height > 0.0 ? 1.0 : -1.0, closing = -side * speed;
  const double left = std::max(side * height - circle.radius, 0.0);
  if (closing <= 0.0 || left > closing) return std::nullopt;
  return left / closing;
}

Impact impact_at(const Circle& circle, const dvec2& step, double time, const dvec2& point, const dvec2& fallback) {
  const dvec2 centre = circle.centre + time * step, apart = centre - point;
  const double distance = glm::length(apart);
  return {true, time, centre, point, distance > 0.0 ? apart / distance : fallback};
}

dvec2 foot_on_line(const Segment& line, const dvec2& p) {
  const dvec2 along = line.b - line.a;
  return line.a + glm::dot(p - line.a, along) / glm::dot(along, along) * along;
}

// A step turned towards a wall by less than this counts as sliding, so that rounding error does not stop it.
constexpr double kSliding = 1e-12;  // 1   sine

// Returns the fraction of the step that the circle may move before this wall stops it.
double share_before(const Circle& circle, const dvec2& step, const Segment& wall, double gap) {
  const Circle kept_off{circle.centre, circle.radius + gap};
  const Contact now = circle_segment(kept_off, wall);
  if (now.gap > 0.0) {
    const Impact impact = moving_circle_segment(kept_off, step, wall);
    return impact.hits ? impact.time : 1.0;
  }
  // The distance to a segment is convex along a straight step, so a step that does not approach at first never does.
  // With the centre on the wall no step approaches.
  const bool on_wall = now.gap <= -kept_off.radius;
  return !on_wall && glm::dot(now.normal, step) < -kSliding * glm::length(step) ? 0.0 : 1.0;
}

}  // namespace

Contact circle_line(const Circle& circle, const Segment& line) {
  const dvec2 normal = left_normal(line);
  const double height = cross(line.b - line.a, circle.centre - line.a) / glm::length(line.b - line.a);
  const double gap = std::abs(height) - circle.radius;
  return {gap <= 0.0, foot_on_line(line, circle.centre), height < 0.0 ? -normal : normal, gap};
}

Contact circle_segment(const Circle& circle, const Segment& segment) {
  const double parameter = nearest_parameter(segment, circle.centre);
  if (parameter > 0.0 && parameter < 1.0) {
    // When the centre is close to the segment, the difference of centre and nearest point loses its digits. The normal
    // of the segment's line stays exact.
    const Contact on_line = circle_line(circle, segment);
    return {on_line.touches, point_at(segment, parameter), on_line.normal, on_line.gap};
  }
  return contact_at(circle, nearest_point(segment, circle.centre), left_normal(segment));
}

Contact circle_box(const Circle& circle, const Box& box) {
  const dvec2 c = circle.centre, inside = glm::clamp(c, box.low, box.high);
  if (inside != c) return contact_at(circle, inside, dvec2(1.0, 0.0));
  // The centre is inside the box: the shortest path out leads through the nearest side.
  const double depth[] = {box.high.x - c.x, c.x - box.low.x, box.high.y - c.y, c.y - box.low.y};
  const dvec2 point[] = {{box.high.x, c.y}, {box.low.x, c.y}, {c.x, box.high.y}, {c.x, box.low.y}};
  const dvec2 normal[] = {{1.0, 0.0}, {-1.0, 0.0}, {0.0, 1.0}, {0.0, -1.0}};
  const auto side = std::min_element(std::begin(depth), std::end(depth)) - std::begin(depth);
  return {true, point[side], normal[side], -depth[side] - circle.radius};
}

Impact moving_circle_line(const Circle& circle, const dvec2& step, const Segment& line) {
  const Contact now = circle_line(circle, line);
  if (now.touches) return {true, 0.0, circle.centre, now.point, now.normal};
  const auto time = time_into_band(circle, step, line.a, left_normal(line));
  if (!time) return {};
  const dvec2 centre = circle.centre + *time * step;
  return {true, *time, centre, foot_on_line(line, centre), now.normal};
}

Impact moving_circle_segment(const Circle& circle, const dvec2& step, const Segment& segment) {
  const Contact now = circle_segment(circle, segment);
  if (now.touches) return {true, 0.0, circle.centre, now.point, now.normal};
  const dvec2 normal = left_normal(segment), along = segment.b - segment.a;
  // The shape to hit is the segment rounded by the radius: first its flat sides, else its two round ends. A circle
  // beside a flat side that is already in the band but does not touch differs from touching only by rounding.
  if (const auto time = time_into_band(circle, step, segment.a, normal)) {
    const dvec2 centre = circle.centre + *time * step;
    const double parameter = glm::dot(centre - segment.a, along);
    if (parameter >= 0.0 && parameter <= glm::dot(along, along) && segment.a != segment.b) {
      const double side = glm::dot(circle.centre - segment.a, normal) > 0.0 ? 1.0 : -1.0;
      return {true, *time, centre, centre - side * circle.radius * normal, side * normal};
    }
  }
  const auto at_a = time_into_circle(circle.centre - segment.a, step, circle.radius),
             at_b = time_into_circle(circle.centre - segment.b, step, circle.radius);
  if (!at_a && !at_b) return {};
  const bool a_first = at_a && (!at_b || *at_a <= *at_b);
  return impact_at(circle, step, a_first ? *at_a : *at_b, a_first ? segment.a : segment.b, now.normal);
}

dvec2 bounce(const dvec2& velocity, const dvec2& normal, double restitution) {
  const double closing = glm::dot(velocity, normal);
  return closing < 0.0 ? velocity - (1.0 + restitution) * closing * normal : velocity;
}

double stop_short(const Circle& circle, const dvec2& step, std::span<const Segment> walls, double gap) {
  double share = 1.0;
  for (const Segment& wall : walls) share = std::min(share, share_before(circle, step, wall, gap));
  return share;
}

}  // namespace trocar::planar
