#include "deform/contact.hpp"

#include <algorithm>

#include "geometry/refine.hpp"

namespace trocar {
namespace {

// The direction to the tool may turn by up to 60 degrees within a step before we say that the tool has passed.
constexpr double kSameSide = 0.5;

// Two points this close have no direction between them.
constexpr double kCoincident = 1e-9;  // m

glm::dvec3 closest_on_segment(const glm::dvec3& p, const glm::dvec3& a, const glm::dvec3& b) {
  const glm::dvec3 d = b - a;
  const double square = glm::dot(d, d);
  return square > 0.0 ? a + glm::clamp(glm::dot(p - a, d) / square, 0.0, 1.0) * d : a;
}

// How far the shaft's material beside `p` moves during the step: it turns about the pivot and slides through it.
glm::vec3 tool_slide(const ToolStep& step, const glm::dvec3& p) {
  const glm::dvec3 before = step.tip_before - step.pivot, after = step.tip_after - step.pivot;
  const double length_before = glm::length(before), length_after = glm::length(after);
  if (!(length_before > 0.0) || !(length_after > 0.0)) return glm::vec3(0.f);
  const double from_tip = glm::distance(step.tip_after, closest_on_segment(p, step.pivot, step.tip_after));
  return glm::vec3(after - before - from_tip * (after / length_after - before / length_before));
}

// What one face asks for, at one of its points.
struct FaceContact {
  glm::dvec3 point, normal;  // m, 1: tissue to tool
  double depth;              // m
};

double contact_radius(const ToolStep& step) { return step.radius - std::min(kContactSlack, 0.1 * step.radius); }

FaceContact against_end_pose(const ToolStep& step, const ClosestPoints& closest) {
  const glm::dvec3 normal = (closest.on_first - closest.on_second) / std::max(closest.distance, kCoincident);
  return {closest.on_second, normal, contact_radius(step) - closest.distance};
}

FaceContact as_touched(const ToolStep& step, const Touch& touch) {
  return {glm::dvec3(touch.point), glm::dvec3(touch.normal), touch.depth - (step.radius - contact_radius(step))};
}

// Weights of the corners of `face` at `point`; the first corner alone where the face has no area.
glm::dvec3 corner_weights(const Triangle& t, const glm::dvec3& point) {
  const glm::dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
  const double square = glm::dot(normal, normal);
  if (!(square > 0.0)) return {1.0, 0.0, 0.0};
  const double b = glm::clamp(glm::dot(glm::cross(point - t.a, t.c - t.a), normal) / square, 0.0, 1.0);
  const double c = glm::clamp(glm::dot(glm::cross(t.b - t.a, point - t.a), normal) / square, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

// A corner on its own: a face held at one point only would swing into the tool at another.
void add_vertex(const ToolStep& step, std::uint32_t vertex, const glm::dvec3& p, const glm::dvec3& face_normal,
                ContactList& out) {
  if (out.added_for[vertex] == out.tools_added) return;
  const glm::dvec3 to_tool = closest_on_segment(p, step.pivot, step.tip_after) - p;
  const double distance = glm::length(to_tool), depth = contact_radius(step) - distance;
  if (depth < -kContactReach || glm::dot(to_tool, face_normal) < kSameSide * std::max(distance, kCoincident)) return;
  out.added_for[vertex] = out.tools_added;
  out.contacts.push_back(
      {vertex, glm::vec3(to_tool / distance), static_cast<float>(depth), 0, 0, 0.f, 0.f, tool_slide(step, p)});
}

// `touch`: what the query said of this face, or null when it only was near before.
void add_face(const ToolStep& step, FaceId id, const Touch* touch, std::span<const glm::uvec3> faces,
              std::span<const glm::vec3> positions, ContactList& out) {
  if (index(id) >= faces.size()) return;
  const glm::uvec3& corners = faces[index(id)];
  const Triangle face = triangle_of(positions, corners);
  const ClosestPoints closest = closest_segment_triangle(step.pivot, step.tip_after, face);
  FaceContact contact = against_end_pose(step, closest);
  const bool pierced = closest.distance <= kCoincident;
  if (touch && (pierced || glm::dot(contact.normal, glm::dvec3(touch->normal)) < kSameSide))
    contact = as_touched(step, *touch);
  else if (pierced || contact.depth < -kContactReach)
    return;
  const glm::dvec3 w = corner_weights(face, contact.point);
  out.near.push_back(id);
  out.contacts.push_back({corners.x, glm::vec3(contact.normal), static_cast<float>(contact.depth), corners.y, corners.z,
                          static_cast<float>(w.y), static_cast<float>(w.z), tool_slide(step, contact.point)});
  add_vertex(step, corners.x, face.a, contact.normal, out);
  add_vertex(step, corners.y, face.b, contact.normal, out);
  add_vertex(step, corners.z, face.c, contact.normal, out);
}

// Faces near the tool in the frame before that it does not touch now. Both lists are sorted by face.
void add_faces_left(const ToolStep& step, std::size_t tool, std::span<const Touch> touches,
                    std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions, ContactList& out) {
  if (tool + 1 >= out.near_first_before.size()) return;
  auto next = touches.begin();
  for (std::uint32_t i = out.near_first_before[tool]; i < out.near_first_before[tool + 1]; ++i) {
    const FaceId face = out.near_before[i];
    next = std::lower_bound(next, touches.end(), face, [](const Touch& touch, FaceId id) { return touch.face < id; });
    if (next == touches.end() || next->face != face) add_face(step, face, nullptr, faces, positions, out);
  }
}

}  // namespace

void ContactList::begin_frame() {
  contacts.clear();
  first.assign(1, 0);
  std::swap(near, near_before);
  std::swap(near_first, near_first_before);
  near.clear();
  near_first.assign(1, 0);
}

void contacts_from_touches(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                           std::span<const glm::vec3> positions, ContactList& out) {
  if (out.added_for.size() != positions.size()) out.added_for.assign(positions.size(), 0);
  ++out.tools_added;
  for (const Touch& touch : touches) add_face(step, touch.face, &touch, faces, positions, out);
  add_faces_left(step, out.first.size() - 1, touches, faces, positions, out);
  std::sort(out.near.begin() + out.near_first.back(), out.near.end());
  out.first.push_back(static_cast<std::uint32_t>(out.contacts.size()));
  out.near_first.push_back(static_cast<std::uint32_t>(out.near.size()));
}

}  // namespace trocar
