#include "deform/contact/contact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "deform/contact_thinning.hpp"
#include "deform/pressing_tool.hpp"

namespace trocar {
namespace {

// When the direction to the tool turns by more than 60 degrees within a step, the tool has passed the point.
constexpr double kSameSide = 0.5;

// A part moves no further in a contact substep, unless it is faster than 1.2 m/s: a thin part would leave too many
// points of a face behind it.
constexpr double kLongestPartStride = 6e-4;  // m
constexpr int kMostPartSubsteps = 32;
// Candidates times substeps: a part that is buried in many small faces gets fewer substeps.
constexpr double kMostPartWork = 60000.0;

// A part whose polytope a face crosses has pierced it when it goes this far beyond. Contacts leave shallower crossings.
constexpr double kPierced = 1.5e-3;  // m

double part_speed(const MovingPart& part) { return motion_bounds(*part.motion, *part.shape).speed; }

// Two points closer than this do not define a direction.
constexpr double kCoincident = 1e-9;  // m

// The contact of one face at one of its points.
struct FaceContact {
  glm::dvec3 point, normal;  // m, 1: tissue to tool
  double distance;           // m, from the axis
};

FaceContact against_end_pose(const ToolTissue& closest) {
  const glm::dvec3 normal = (closest.on_tool - closest.on_tissue) / std::max(closest.distance, kCoincident);
  return {closest.on_tissue, normal, closest.distance};
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

bool in_range(const PressingTool& tool, double distance, const ContactList& list) {
  return distance < tool.radius() + list.params.reach;
}

// Adds a separate contact for a corner, because a face held at only one point would swing into the tool at another.
void add_vertex(const PressingTool& tool, std::uint32_t vertex, const glm::dvec3& p, const glm::dvec3& face_normal,
                ContactList& out) {
  if (out.added_vertex[vertex] == out.round) return;
  const double range = tool.radius() + out.params.reach;
  if (tool.is_beyond(p, range)) return;
  const ToolTissue closest = tool.closest(p, range);
  const glm::dvec3 to_tool = closest.on_tool - p;
  const double distance = closest.distance;
  if (!in_range(tool, distance, out) || glm::dot(to_tool, face_normal) < kSameSide * std::max(distance, kCoincident))
    return;
  out.added_vertex[vertex] = out.round;
  out.add({out.tool(), vertex, glm::vec3(to_tool / distance)}, distance);
}

// A contact where an edge comes closest to a tool that crosses it. Of its two faces, the one that traverses the edge
// upwards adds it.
void add_edge(const PressingTool& tool, std::uint32_t from, std::uint32_t to, const glm::dvec3& a, const glm::dvec3& b,
              const glm::dvec3& face_normal, ContactList& out) {
  constexpr double kEnd = 0.05;  // of the edge; closer to a corner, the corner's own contact suffices
  if (from > to) return;
  const ToolTissue closest = tool.closest(a, b, tool.radius() + out.params.reach);
  const double share = closest.along;
  if (!(share >= kEnd && share <= 1.0 - kEnd) || !in_range(tool, closest.distance, out) ||
      closest.distance <= kCoincident)
    return;
  const glm::dvec3 to_tool = closest.on_tool - closest.on_tissue;
  if (glm::dot(to_tool, face_normal) < kSameSide * closest.distance) return;
  out.add({out.tool(), from, glm::vec3(to_tool / closest.distance), to, from, static_cast<float>(share), 0.f},
          closest.distance);
}

std::uint64_t key_of(std::uint32_t tool, FaceId face) { return std::uint64_t{tool} << 32 | index(face); }

// Is a thin part now behind a face that it was pressing? Then the contact stays on the old side. A part that went
// around the face's border is not straight behind it.
bool is_behind_met(const PressingTool& tool, FaceId id, const Triangle& face, const glm::dvec3& to_tool,
                   const ContactList& list) {
  constexpr double kStraightBehind = -0.7;  // cosine
  if (!tool.is_part() || !list.was_met(id)) return false;
  const glm::dvec3 area = glm::cross(face.b - face.a, face.c - face.a);
  return glm::dot(area, to_tool) < kStraightBehind * glm::length(area);
}

void add_face(const PressingTool& tool, FaceId id, const glm::uvec3& corners, std::span<const glm::vec3> positions,
              ContactList& out) {
  const Triangle face = triangle_of(positions, corners);
  if (!tool.may_touch(face, out.params.reach)) return;
  const ToolTissue closest = tool.closest(face, tool.contact_range(out.params.reach));
  Touch touch;
  const bool touched = tool.may_have_touched(closest.distance) && tool.touches(face, touch);
  FaceContact contact = against_end_pose(closest);
  if (!touched && !in_range(tool, contact.distance, out)) return;
  const bool passed = touched && glm::dot(contact.normal, glm::dvec3(touch.normal)) < kSameSide;
  if (touched && (passed || closest.distance <= kCoincident))
    contact = {glm::dvec3(touch.point), glm::dvec3(touch.normal), 0.0};
  if (tool.is_part() && closest.distance <= kCoincident && tool.depth_behind(face) > kPierced) out.pierced.back() = 1;
  if (is_behind_met(tool, id, face, contact.normal, out)) {
    contact.normal = glm::normalize(glm::cross(face.b - face.a, face.c - face.a));
    contact.distance = 0.0;
  } else if (behind(face, contact.normal)) {
    return;
  }
  if (tool.is_part()) out.met.push_back(key_of(out.tool(), id));
  const glm::dvec3 w = corner_weights(face, contact.point);
  out.add({out.tool(), corners.x, glm::vec3(contact.normal), corners.y, corners.z, static_cast<float>(w.y),
           static_cast<float>(w.z)},
          contact.distance);
  add_vertex(tool, corners.x, face.a, contact.normal, out);
  add_vertex(tool, corners.y, face.b, contact.normal, out);
  add_vertex(tool, corners.z, face.c, contact.normal, out);
  add_edge(tool, corners.x, corners.y, face.a, face.b, contact.normal, out);
  add_edge(tool, corners.y, corners.z, face.b, face.c, contact.normal, out);
  add_edge(tool, corners.z, corners.x, face.c, face.a, contact.normal, out);
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

void ContactList::reserve(std::size_t count) {
  contacts.reserve(count);
  face_of.reserve(count);
  gap.reserve(count);
  for (auto* indices : {&thinning.order, &thinning.kept, &thinning.next}) indices->reserve(count);
  thinning.slot.reserve(std::bit_ceil(count + 1));
  thinning.point.reserve(count);
  loads.reserve(count);
  for (auto* keys : {&met, &met_before}) keys->reserve(count);
  for (auto* faces : {&candidates, &near}) faces->reserve(count);
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
  const PressingTool pressing(step);
  const auto consider = [&](FaceId face) {
    if (index(face) >= faces.size() || list.seen_face[index(face)] == list.round) return;
    list.seen_face[index(face)] = list.round;
    if (pressing.may_touch(triangle_of(positions, faces[index(face)]), list.params.candidate_reach))
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

bool ContactList::was_met(FaceId face) const {
  return std::binary_search(met_before.begin(), met_before.end(), key_of(tool(), face));
}

void begin_contacts(ContactList& list) {
  std::swap(list.met, list.met_before);
  list.met.clear();
  list.contacts.clear();
  list.face_of.clear();
  list.gap.clear();
  list.first.assign(1, 0);
  list.pierced.clear();
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
  const auto held_corners = [&](const glm::uvec3& face) {
    return (list.held_vertex[face.x] == list.round) + (list.held_vertex[face.y] == list.round) +
           (list.held_vertex[face.z] == list.round);
  };
  list.pierced.push_back(0);
  const std::size_t tool = list.tool();
  const PressingTool pressing(piece);
  if (tool + 1 < list.first_candidate.size())
    for (std::uint32_t i = list.first_candidate[tool]; i < list.first_candidate[tool + 1]; ++i) {
      const glm::uvec3& face = faces[index(list.candidates[i])];
      const int corners = held_corners(face);
      if (corners == 3) continue;
      const std::size_t before = list.contacts.size();
      add_face(pressing, list.candidates[i], face, positions, list);
      for (std::size_t k = before; k < list.contacts.size(); ++k) list.contacts[k].smooth = corners > 0;
    }
  if (pressing.is_part()) thin_contacts(list.first.back(), positions, list);
  list.first.push_back(static_cast<std::uint32_t>(list.contacts.size()));
}

void add_no_contacts(ContactList& list) {
  list.first.push_back(static_cast<std::uint32_t>(list.contacts.size()));
  list.pierced.push_back(0);
}

int piece_count(std::span<const ToolStep> steps, const ContactList& list) {
  if (list.candidates.empty()) return 1;
  double shafts = list.params.least_substeps, parts = 0.0;
  for (std::size_t tool = 0; tool < steps.size(); ++tool) {
    const ToolStep& step = steps[tool];
    if (!step.part.shape) {
      shafts = std::max(shafts, glm::distance(step.tip_before, step.tip_after) / (0.5 * step.radius));
    } else if (list.has_candidates(tool)) {
      parts = std::max(parts, part_speed(step.part) / kLongestPartStride);
    }
  }
  shafts = std::min(shafts, static_cast<double>(list.params.most_substeps));
  parts = std::min(
      {parts, static_cast<double>(kMostPartSubsteps), kMostPartWork / static_cast<double>(list.candidates.size())});
  return static_cast<int>(std::ceil(std::max(shafts, parts)));
}

ToolStep piece_of(const ToolStep& step, int number, int count) {
  ToolStep piece{step.pivot, pose_at(step, static_cast<double>(number) / count).tip,
                 pose_at(step, static_cast<double>(number + 1) / count).tip, step.radius, step.part};
  piece.part.from = static_cast<double>(number) / count;
  piece.part.to = piece.part.end = static_cast<double>(number + 1) / count;
  return piece;
}

}  // namespace trocar
