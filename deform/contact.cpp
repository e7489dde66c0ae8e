#include "deform/contact.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
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

// What one face asks for, at one of its points.
struct FaceContact {
  glm::dvec3 point, normal;  // m, 1: tissue to tool
  double distance;           // m, from the axis
};

FaceContact against_end_pose(const ClosestPoints& closest) {
  const glm::dvec3 normal = (closest.on_first - closest.on_second) / std::max(closest.distance, kCoincident);
  return {closest.on_second, normal, closest.distance};
}

// A tool belongs outside the organ: one that is found behind a face is meant to be in front of it.
glm::dvec3 outer_side(const Triangle& face, const glm::dvec3& to_tool) {
  constexpr double kBehind = -0.3;  // cosine
  const glm::dvec3 area = glm::cross(face.b - face.a, face.c - face.a);
  const double size = glm::length(area);
  return glm::dot(area, to_tool) < kBehind * size ? area / size : to_tool;
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

bool in_reach(const ToolStep& step, double distance) { return distance < step.radius + kContactReach; }

// A corner on its own: a face held at one point only would swing into the tool at another.
void add_vertex(const ToolStep& step, std::uint32_t vertex, const glm::dvec3& p, const glm::dvec3& face_normal,
                ContactList& out) {
  if (out.added_for[vertex] == out.tools_added) return;
  const glm::dvec3 to_tool = closest_on_segment(p, step.pivot, step.tip_after) - p;
  const double distance = glm::length(to_tool);
  if (!in_reach(step, distance) || glm::dot(to_tool, face_normal) < kSameSide * std::max(distance, kCoincident)) return;
  out.added_for[vertex] = out.tools_added;
  out.contacts.push_back({out.tool(), vertex, glm::vec3(to_tool / distance)});
}

// An edge where it comes closest to a shaft that lies across it. Of the two faces beside it, the one whose corners run
// upwards along it adds it.
void add_edge(const ToolStep& step, std::uint32_t from, std::uint32_t to, const glm::dvec3& a, const glm::dvec3& b,
              const glm::dvec3& face_normal, ContactList& out) {
  constexpr double kEnd = 0.05;  // of the edge: closer to a corner, the corner's own contact does
  if (from > to) return;
  const closest::Segment axis = closest::segment(step.pivot, step.tip_after), edge = closest::segment(a, b);
  const closest::SegmentPair pair = closest::closest_segments(axis, edge);
  const double distance = std::sqrt(pair.squared);
  if (pair.v < kEnd || pair.v > 1.0 - kEnd || !in_reach(step, distance) || distance <= kCoincident) return;
  const glm::dvec3 to_tool = axis.p + pair.u * axis.d - (edge.p + pair.v * edge.d);
  if (glm::dot(to_tool, face_normal) < kSameSide * distance) return;
  out.contacts.push_back({out.tool(), from, glm::vec3(to_tool / distance), to, from, static_cast<float>(pair.v), 0.f});
}

// `touch`: what the query said of this face, or null when it only was near before.
void add_face(const ToolStep& step, FaceId id, const Touch* touch, std::span<const glm::uvec3> faces,
              std::span<const glm::vec3> positions, ContactList& out) {
  if (index(id) >= faces.size()) return;
  const glm::uvec3& corners = faces[index(id)];
  const Triangle face = triangle_of(positions, corners);
  const ClosestPoints closest = closest_segment_triangle(step.pivot, step.tip_after, face);
  FaceContact contact = against_end_pose(closest);
  if (!touch && !in_reach(step, contact.distance)) return;
  const bool passed = touch && glm::dot(contact.normal, glm::dvec3(touch->normal)) < kSameSide;
  if (touch && (passed || closest.distance <= kCoincident))
    contact = {glm::dvec3(touch->point), glm::dvec3(touch->normal), 0.0};
  contact.normal = outer_side(face, contact.normal);
  const glm::dvec3 w = corner_weights(face, contact.point);
  out.near.push_back(id);
  out.contacts.push_back({out.tool(), corners.x, glm::vec3(contact.normal), corners.y, corners.z,
                          static_cast<float>(w.y), static_cast<float>(w.z)});
  add_vertex(step, corners.x, face.a, contact.normal, out);
  add_vertex(step, corners.y, face.b, contact.normal, out);
  add_vertex(step, corners.z, face.c, contact.normal, out);
  add_edge(step, corners.x, corners.y, face.a, face.b, contact.normal, out);
  add_edge(step, corners.y, corners.z, face.b, face.c, contact.normal, out);
  add_edge(step, corners.z, corners.x, face.c, face.a, contact.normal, out);
  out.face_of.resize(out.contacts.size(), id);
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
  face_of.clear();
  first.assign(1, 0);
  std::swap(near, near_before);
  std::swap(near_first, near_first_before);
  near.clear();
  near_first.assign(1, 0);
}

void ContactList::forget() {
  begin_frame();
  near_before.clear();
  near_first_before.assign(1, 0);
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
