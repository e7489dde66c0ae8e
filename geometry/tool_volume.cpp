// Computes the half-spaces and cameras of tool volumes, all in double; the functions that set planes and matrices round
// to float, once. Frames are right-handed as in OpenGL: right x up = -forward, eye z = -depth. Units: metres, world
// frame. Checked by sampling in tests/geometry/tool_volume_test.cpp
#include "geometry/tool_volume.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/frame.hpp"

namespace trocar {
namespace {

using glm::dvec3;

enum PlaneOrder { kLeft, kRight, kBottom, kTop, kNear, kFar, kCap };

// A projection over a view frame. left and right are the two side planes, distance = x . (x, depth, 1). The clip
// coordinates are w = (right + left) / 2 and x = (left - right) / 2, so that -w <= x <= w is exactly those planes for
// any position of the apex. In the volume w >= w_least, which keeps the matrix's own top, bottom, near and far
// outside it.
struct Projection {
  glm::dvec3 left, right;
  double w_least, y_extent, near, far;  // |y| <= y_extent and near <= depth <= far hold in the volume
};

// Sets plane `slot`: the distance of a point x from it is inward . (x - through) + offset.
void set_plane(ToolVolume& volume, int slot, const dvec3& inward, const dvec3& through, double offset) {
  volume.planes[slot] = glm::vec4(glm::dvec4(inward, offset - glm::dot(inward, through)));
  volume.plane_count = std::max(volume.plane_count, slot + 1);
  if (slot != kLeft && slot != kRight) volume.clip_plane_mask |= 1u << slot;
}

glm::mat4 view_of(const ViewFrame& frame) {
  const dvec3 rows[3] = {frame.right, frame.up, -frame.forward};
  glm::mat4 view(1.f);
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) view[column][row] = static_cast<float>(rows[row][column]);
    view[3][row] = static_cast<float>(-glm::dot(rows[row], frame.origin));
  }
  return view;
}

glm::mat4 projection_of(const Projection& lens) {
  const dvec3 x = 0.5 * (lens.left - lens.right), w = 0.5 * (lens.left + lens.right);
  const double z_slope = lens.w_least / (lens.far - lens.near);
  const glm::dvec4 columns[4] = {{x[0], 0.0, 0.0, w[0]},
                                 {0.0, 0.5 * lens.w_least / lens.y_extent, 0.0, 0.0},
                                 {-x[1], 0.0, -z_slope, -w[1]},
                                 {x[2], 0.0, -0.5 * z_slope * (lens.near + lens.far), w[2]}};
  return glm::mat4(glm::dmat4(columns[0], columns[1], columns[2], columns[3]));
}

}  // namespace

ToolVolume box_volume(const ToolStep& step, const ViewFrame& frame, const dvec3& low, const dvec3& high) {
  ToolVolume volume;
  volume.step = step;
  const dvec3 axes[3] = {frame.right, frame.up, frame.forward};
  for (int axis = 0; axis < 3; ++axis) {
    set_plane(volume, 2 * axis, axes[axis], frame.origin, -low[axis]);
    set_plane(volume, 2 * axis + 1, -axes[axis], frame.origin, high[axis]);
  }
  const double half = 0.5 * (high.x - low.x), y_extent = std::max(std::abs(low.y), std::abs(high.y));
  const dvec3 left{1.0, 0.0, -low.x}, right{-1.0, 0.0, high.x};
  volume.view = view_of(frame);
  volume.projection = projection_of({left / half, right / half, 1.0, y_extent, low.z, high.z});
  return volume;
}

namespace {

// Below this angle the perspective apex is kilometres away, and a box is equally tight.
constexpr double kSmallestSweepAngle = 1e-4;  // rad
// Above this angle a wedge is wide and its apex approaches the near plane; a box around the motion is tighter.
constexpr double kLargestSweepAngle = 2.0;  // rad
// When the sine of the angle between the arms is smaller, the paper camera's plane of motion is undefined.
constexpr double kSmallestPaperSine = 1e-4;
// When that sine is smaller, the plane of motion is undefined even in double.
constexpr double kSmallestPlaneSine = 1e-9;
// When the sine of the angle between shaft and y is smaller, z is the upright direction.
constexpr double kSmallestUprightSine = 1e-3;

// Camera at `origin` looking along `forward`, upright by y, or by z when it looks along y.
ViewFrame upright_frame(const dvec3& origin, const dvec3& forward) {
  dvec3 side = glm::cross(forward, dvec3(0, 1, 0));
  if (glm::length(side) < kSmallestUprightSine) side = glm::cross(forward, dvec3(0, 0, 1));
  const dvec3 right = glm::normalize(side);
  return {origin, right, glm::cross(right, forward), forward};
}

ToolVolume static_box(const ToolStep& step) {
  const dvec3 arm = step.tip_after - step.pivot;
  const double s = step.radius, length = glm::length(arm);
  return box_volume(step, upright_frame(step.pivot, arm / length), {-s, -s, 0.0}, {s, s, length});
}

// For a tool that is at rest or moves along its shaft. Returns the box around the deeper shaft, widened by the distance
// of the other tip from that shaft.
ToolVolume slide_box(const ToolStep& step, const dvec3& a, const dvec3& b) {
  const bool deeper_after = glm::dot(b, b) > glm::dot(a, a);
  const dvec3 deep = deeper_after ? b : a, other = deeper_after ? a : b;
  const double s = step.radius, depth = glm::length(deep);
  const double half = s + glm::length(glm::cross(deep, other)) / depth;
  return box_volume(step, upright_frame(step.pivot, deep / depth), {-half, -half, -s}, {half, half, depth + s});
}

// For a tip that swings far around the trocar or behind it. Returns the box around the pivot and both tips, widened by
// the radius and aligned with the longer arm.
ToolVolume swing_box(const ToolStep& step, const dvec3& a, const dvec3& b) {
  const dvec3 forward = glm::normalize(glm::dot(b, b) > glm::dot(a, a) ? b : a);
  const dvec3 across = glm::cross(a, b);
  const bool flat = glm::length(across) < kSmallestPlaneSine * glm::length(a) * glm::length(b);
  const dvec3 up = flat ? glm::normalize(any_perpendicular(forward)) : glm::normalize(across);
  const ViewFrame frame{step.pivot, glm::cross(forward, up), up, forward};
  dvec3 low(0.0), high(0.0);
  for (const dvec3& arm : {a, b}) {
    const dvec3 at(glm::dot(frame.right, arm), glm::dot(frame.up, arm), glm::dot(frame.forward, arm));
    low = glm::min(low, at);
    high = glm::max(high, at);
  }
  return box_volume(step, frame, low - step.radius, high + step.radius);
}

// Returns the wedge between the two shafts, with its sides moved out by the radius. Its apex lies radius / sin(theta /
// 2) behind the pivot.
ToolVolume wedge(const ToolStep& step, const dvec3& a, const dvec3& b, double theta) {
  const dvec3 before = glm::normalize(a), after = glm::normalize(b), n = glm::normalize(glm::cross(a, b));
  const dvec3 bisector = glm::normalize(before + after);
  const double s = step.radius;
  const double far_depth = std::max(glm::dot(bisector, a), glm::dot(bisector, b)) + s;
  ToolVolume volume;
  volume.step = step;
  volume.perspective = true;
  set_plane(volume, kLeft, glm::cross(n, before), step.pivot, s);
  set_plane(volume, kRight, glm::cross(after, n), step.pivot, s);
  set_plane(volume, kBottom, -n, step.pivot, s);
  set_plane(volume, kTop, n, step.pivot, s);
  set_plane(volume, kNear, bisector, step.pivot, s);
  set_plane(volume, kFar, glm::normalize(glm::cross(n, b - a)), step.tip_before, s);
  set_plane(volume, kCap, -bisector, step.pivot, far_depth);
  const double sine = elementary::sin(0.5 * theta), cosine = elementary::cos(0.5 * theta);
  volume.view = view_of({step.pivot, glm::cross(n, bisector), -n, bisector});
  volume.projection = projection_of({{cosine, sine, s}, {-cosine, sine, s}, s * (1.0 - sine), s, -s, far_depth});
  return volume;
}

// Returns the 1999 camera: left through g = pivot - s u and the first tip, right through d = pivot + s u and the
// second.
ToolVolume paper_frustum(const ToolStep& step, const dvec3& a, const dvec3& b) {
  const double s = step.radius, motion = glm::length(b - a);
  const dvec3 x = (b - a) / motion, y = glm::normalize(glm::cross(b, a)), z = glm::cross(y, x);
  const double x_before = glm::dot(a, x), x_after = glm::dot(b, x), depth = 0.5 * (glm::dot(a, z) + glm::dot(b, z));
  const double left = x_before + s, right = x_after - s;  // how far the two sides lean outward over the depth
  const double left_length = elementary::hypot(depth, left), right_length = elementary::hypot(depth, right);
  ToolVolume volume;
  volume.step = step;
  volume.perspective = true;
  set_plane(volume, kLeft, (depth * x - left * z) / left_length, step.pivot - s * x, 0.0);
  set_plane(volume, kRight, (-depth * x + right * z) / right_length, step.pivot + s * x, 0.0);
  set_plane(volume, kBottom, y, step.pivot, s);
  set_plane(volume, kTop, -y, step.pivot, s);
  set_plane(volume, kNear, z, step.pivot, 0.0);
  set_plane(volume, kFar, -z, step.tip_before, 0.0);
  volume.view = view_of({step.pivot, x, y, z});
  volume.projection =
      projection_of({dvec3(depth, -left, depth * s) / left_length, dvec3(-depth, right, depth * s) / right_length,
                     s * depth / std::max(left_length, right_length), s, 0.0, depth});
  return volume;
}

std::string point_fault(const char* name, const dvec3& at) {
  char text[160] = "";
  if (!std::isfinite(at.x) || !std::isfinite(at.y) || !std::isfinite(at.z)) {
    std::snprintf(text, sizeof text, "the tool's %s (%g, %g, %g) is not finite; give three finite coordinates", name,
                  at.x, at.y, at.z);
  } else if (std::max({std::abs(at.x), std::abs(at.y), std::abs(at.z)}) > kLargestCoordinate) {
    std::snprintf(text, sizeof text, "the tool's %s (%g, %g, %g) m is over %g m from the origin; check the unit", name,
                  at.x, at.y, at.z, kLargestCoordinate);
  }
  return text;
}

std::string shaft_fault(const dvec3& pivot, const dvec3& tip, double radius) {
  char text[160] = "";
  if (!(radius >= kSmallestRadius) || !(radius <= kLargestCoordinate)) {
    std::snprintf(text, sizeof text, "the tool's radius is %g mm; give a number above 0 (at least %g mm)", radius * 1e3,
                  kSmallestRadius * 1e3);
    return text;
  }
  if (std::string fault = point_fault("pivot", pivot); !fault.empty()) return fault;
  if (std::string fault = point_fault("tip", tip); !fault.empty()) return fault;
  if (glm::length(tip - pivot) < kShortestShaft) {
    return "the tool's tip is at its pivot, so the shaft has no direction; move the tip away from the trocar point";
  }
  return {};
}

}  // namespace

std::string pose_fault(const ToolPose& pose) { return shaft_fault(pose.pivot, pose.tip, pose.radius); }

std::string step_fault(const ToolStep& step) {
  std::string fault = shaft_fault(step.pivot, step.tip_before, step.radius);
  return fault.empty() ? shaft_fault(step.pivot, step.tip_after, step.radius) : fault;
}

ToolVolume static_volume(const ToolPose& pose) {
  if (const std::string fault = pose_fault(pose); !fault.empty()) throw InputError(fault);
  return static_box(step_at_rest(pose));
}

ToolVolume swept_volume(const ToolStep& step, Cover cover) {
  if (const std::string fault = step_fault(step); !fault.empty()) throw InputError(fault);
  if (cover == Cover::Capsule) return capsule_volume(step);
  const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot;
  const bool wide = glm::length(b - a) > 2.0 * step.radius;
  const bool planar = glm::length(glm::cross(a, b)) >= kSmallestPaperSine * glm::length(a) * glm::length(b);
  return wide && planar ? paper_frustum(step, a, b) : static_box(step);
}

ToolVolume capsule_volume(const ToolStep& step) {
  const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot;
  const double theta = elementary::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b));
  if (theta < kSmallestSweepAngle) return slide_box(step, a, b);
  if (theta > kLargestSweepAngle) return swing_box(step, a, b);
  return wedge(step, a, b, theta);
}

ToolVolume frame_volume(const ToolPose* before, const ToolPose& now, ToolMode mode, Cover cover, TouchSet set) {
  const ToolStep rest = step_at_rest(now);
  const bool moves = mode == ToolMode::Swept && before != nullptr;
  if (set == TouchSet::Exact) return swept_volume(moves ? step_between(*before, now) : rest, Cover::Capsule);
  if (mode == ToolMode::Static || (!moves && cover == Cover::Paper)) return static_volume(now);
  return swept_volume(moves ? step_between(*before, now) : rest, cover);
}

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
