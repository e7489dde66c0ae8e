#include "deform/contact.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"

namespace trocar {
namespace {

// When the direction to the tool turns by more than 60 degrees within a step, the tool has passed the point.
constexpr double kSameSide = 0.5;

// Two points closer than this do not define a direction.
constexpr double kCoincident = 1e-9;  // m

glm::dvec3 closest_on_segment(const glm::dvec3& p, const glm::dvec3& a, const glm::dvec3& b) {
  const glm::dvec3 d = b - a;
  const double square = glm::dot(d, d);
  return square > 0.0 ? a + glm::clamp(glm::dot(p - a, d) / square, 0.0, 1.0) * d : a;
}

// The contact of one face at one of its points.
struct FaceContact {
  glm::dvec3 point, normal;  // m, 1: tissue to tool
  double distance;           // m, from the axis
};

FaceContact against_end_pose(const ClosestPoints& closest) {
  const glm::dvec3 normal = (closest.on_first - closest.on_second) / std::max(closest.distance, kCoincident);
  return {closest.on_second, normal, closest.distance};
}

// Is the tool behind the face? Then another face handles this contact, or the tool has pierced the skin, which closes
// again when the tool leaves.
bool behind(const Triangle& face, const glm::dvec3& to_tool) {
  constexpr double kBehind = -0.3;  // cosine
  const glm::dvec3 area = glm::cross(face.b - face.a, face.c - face.a);
  return glm::dot(area, to_tool) < kBehind * glm::length(area);
}

// Returns the barycentric weights of `point` in `face`. Where the face has no area, only the first corner has a weight.
glm::dvec3 corner_weights(const Triangle& t, const glm::dvec3& point) {
  const glm::dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
  const double square = glm::dot(normal, normal);
  if (!(square > 0.0)) return {1.0, 0.0, 0.0};
  const double b = glm::clamp(glm::dot(glm::cross(point - t.a, t.c - t.a), normal) / square, 0.0, 1.0);
  const double c = glm::clamp(glm::dot(glm::cross(t.b - t.a, point - t.a), normal) / square, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

bool in_range(const ToolStep& step, double distance, const ContactList& list) {
  return distance < step.radius + list.params.reach;
}

// Can the face come within `range` of the tool's surface during the step? Conservative: uses a ball around the face,
// the axis at the end of the step, and the largest motion of any point of the axis.
bool may_touch(const ToolStep& step, const Triangle& face, double range) {
  const glm::dvec3 centre = (face.a + face.b + face.c) / 3.0;
  const auto square = [&](const glm::dvec3& p) { return glm::dot(p - centre, p - centre); };
  const double radius = std::sqrt(std::max({square(face.a), square(face.b), square(face.c)}));
  const double most = step.radius + range + radius + glm::distance(step.tip_before, step.tip_after);
  const glm::dvec3 away = closest_on_segment(centre, step.pivot, step.tip_after) - centre;
  return glm::dot(away, away) < most * most;
}

// Adds a separate contact for a corner, because a face held at only one point would swing into the tool at another.
void add_vertex(const ToolStep& step, std::uint32_t vertex, const glm::dvec3& p, const glm::dvec3& face_normal,
                ContactList& out) {
  if (out.added_vertex[vertex] == out.round) return;
  const glm::dvec3 to_tool = closest_on_segment(p, step.pivot, step.tip_after) - p;
  const double distance = glm::length(to_tool);
  if (!in_range(step, distance, out) || glm::dot(to_tool, face_normal) < kSameSide * std::max(distance, kCoincident))
    return;
  out.added_vertex[vertex] = out.round;
  out.contacts.push_back({out.tool(), vertex, glm::vec3(to_tool / distance)});
}

// A contact where an edge comes closest to a shaft that crosses it. Of its two faces, the one that traverses the edge
// upwards adds it.
void add_edge(const ToolStep& step, std::uint32_t from, std::uint32_t to, const glm::dvec3& a, const glm::dvec3& b,
              const glm::dvec3& face_normal, ContactList& out) {
  constexpr double kEnd = 0.05;  // of the edge; closer to a corner, the corner's own contact suffices
  if (from > to) return;
  const closest::Segment axis = closest::segment(step.pivot, step.tip_after), edge = closest::segment(a, b);
  const closest::SegmentPair pair = closest::closest_segments(axis, edge);
  const double distance = std::sqrt(pair.squared);
  if (pair.v < kEnd || pair.v > 1.0 - kEnd || !in_range(step, distance, out) || distance <= kCoincident) return;
  const glm::dvec3 to_tool = axis.p + pair.u * axis.d - (edge.p + pair.v * edge.d);
  if (glm::dot(to_tool, face_normal) < kSameSide * distance) return;
  out.contacts.push_back({out.tool(), from, glm::vec3(to_tool / distance), to, from, static_cast<float>(pair.v), 0.f});
}

void add_face(const ToolStep& step, FaceId id, const glm::uvec3& corners, std::span<const glm::vec3> positions,
              ContactList& out) {
  const Triangle face = triangle_of(positions, corners);
  if (!may_touch(step, face, out.params.reach)) return;
  Touch touch;
  const bool touched = refine_touch(step, face, touch);
  const ClosestPoints closest = closest_segment_triangle(step.pivot, step.tip_after, face);
  FaceContact contact = against_end_pose(closest);
  if (!touched && !in_range(step, contact.distance, out)) return;
  const bool passed = touched && glm::dot(contact.normal, glm::dvec3(touch.normal)) < kSameSide;
  if (touched && (passed || closest.distance <= kCoincident))
    contact = {glm::dvec3(touch.point), glm::dvec3(touch.normal), 0.0};
  if (behind(face, contact.normal)) return;
  const glm::dvec3 w = corner_weights(face, contact.point);
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

}  // namespace

FacesAround faces_around(std::span<const glm::uvec3> faces, std::size_t vertices) {
  FacesAround around;
  around.first.assign(vertices + 1, 0);
  for (const glm::uvec3& face : faces)
    for (int corner = 0; corner < 3; ++corner) ++around.first[face[corner] + 1];
  for (std::size_t v = 0; v < vertices; ++v) around.first[v + 1] += around.first[v];
  around.face.resize(around.first.back());
  std::vector<std::uint32_t> next(around.first.begin(), around.first.end() - 1);
  for (std::uint32_t f = 0; f < faces.size(); ++f)
    for (int corner = 0; corner < 3; ++corner) around.face[next[faces[f][corner]]++] = FaceId(f);
  return around;
}

void ContactList::forget() {
  const ContactParams kept = params;
  *this = ContactList{};
  params = kept;
}

void begin_candidates(ContactList& list) {
  std::swap(list.candidates, list.near);
  std::swap(list.first_candidate, list.first_near);
  list.candidates.clear();
  list.first_candidate.assign(1, 0);
}

void add_candidates(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                    const FacesAround& around, std::span<const glm::vec3> positions, ContactList& list) {
  if (list.seen_face.size() != faces.size()) list.seen_face.assign(faces.size(), list.round);
  ++list.round;
  const std::size_t tool = list.first_candidate.size() - 1;
  const auto consider = [&](FaceId face) {
    if (index(face) >= faces.size() || list.seen_face[index(face)] == list.round) return;
    list.seen_face[index(face)] = list.round;
    if (may_touch(step, triangle_of(positions, faces[index(face)]), list.params.candidate_reach))
      list.candidates.push_back(face);
  };
  for (const Touch& touch : touches) consider(touch.face);
  if (tool + 1 < list.first_near.size())
    for (std::uint32_t i = list.first_near[tool]; i < list.first_near[tool + 1]; ++i) consider(list.near[i]);
  for (std::size_t next = list.first_candidate.back(); next < list.candidates.size(); ++next)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t vertex = faces[index(list.candidates[next])][corner];
      for (std::uint32_t i = around.first[vertex]; i < around.first[vertex + 1]; ++i) consider(around.face[i]);
    }
  std::sort(list.candidates.begin() + list.first_candidate.back(), list.candidates.end());
  list.first_candidate.push_back(static_cast<std::uint32_t>(list.candidates.size()));
}

void begin_contacts(ContactList& list) {
  list.contacts.clear();
  list.face_of.clear();
  list.first.assign(1, 0);
}

void add_contacts(const ToolStep& piece, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                  ContactList& list, std::span<const std::uint32_t> held) {
  if (list.added_vertex.size() != positions.size()) {
    list.added_vertex.assign(positions.size(), list.round);
    list.held_vertex.assign(positions.size(), list.round);
  }
  ++list.round;
  for (const std::uint32_t vertex : held)
    if (vertex < list.held_vertex.size()) list.held_vertex[vertex] = list.round;
  const auto is_held = [&](const glm::uvec3& face) {
    return list.held_vertex[face.x] == list.round || list.held_vertex[face.y] == list.round ||
           list.held_vertex[face.z] == list.round;
  };
  const std::size_t tool = list.tool();
  if (tool + 1 < list.first_candidate.size())
    for (std::uint32_t i = list.first_candidate[tool]; i < list.first_candidate[tool + 1]; ++i) {
      const glm::uvec3& face = faces[index(list.candidates[i])];
      if (!is_held(face)) add_face(piece, list.candidates[i], face, positions, list);
    }
  list.first.push_back(static_cast<std::uint32_t>(list.contacts.size()));
}

int piece_count(std::span<const ToolStep> steps, const ContactList& list) {
  if (list.candidates.empty()) return 1;
  double most = list.params.least_substeps;
  for (const ToolStep& step : steps)
    most = std::max(most, glm::distance(step.tip_before, step.tip_after) / (0.5 * step.radius));
  return static_cast<int>(std::ceil(std::min(most, static_cast<double>(list.params.most_substeps))));
}

ToolStep piece_of(const ToolStep& step, int number, int count) {
  return {step.pivot, pose_at(step, static_cast<double>(number) / count).tip,
          pose_at(step, static_cast<double>(number + 1) / count).tip, step.radius};
}

}  // namespace trocar
