#include "deform/contact/contact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "geometry/closest.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// More than the rounding of a distance, a motion and the search for the first contact.
constexpr double kTouchMargin = 1e-6;  // m

dvec3 closest_on_segment(const dvec3& p, const dvec3& a, const dvec3& b) {
  const dvec3 d = b - a;
  const double square = glm::dot(d, d);
  return square > 0.0 ? a + glm::clamp(glm::dot(p - a, d) / square, 0.0, 1.0) * d : a;
}

ToolTissue closest_hull(const PosedPart& posed, std::span<const dvec3> tissue, double range) {
  const HullDistance found = hull_distance(posed.corners(), tissue, range);
  return {found.on_first, found.on_second, found.distance};
}

}  // namespace

PressingTool::PressingTool(const ToolStep& step)
    : step_(step), radius_(step.radius), moved_(glm::distance(step.tip_before, step.tip_after)) {
  if (!step.part.shape) return;
  sweep_ = part_sweep(step.part);
  frame_ = frame_at(*step.part.motion, *step.part.shape, step.part.end);
  low_ = high_ = frame_.to_local(sweep_.end.corners()[0]);
  for (const dvec3& corner : sweep_.end.corners()) {
    const dvec3 local = frame_.to_local(corner);
    low_ = glm::min(low_, local), high_ = glm::max(high_, local);
  }
  radius_ = step.part.shape->radius;
  moved_ = motion_bounds(*step.part.motion, *step.part.shape).speed * (step.part.to - step.part.from);
}

ToolTissue PressingTool::closest(const dvec3& point, double range) const {
  if (step_.part.shape) return closest_hull(sweep_.end, std::array{point}, range);
  const dvec3 on_axis = closest_on_segment(point, step_.pivot, step_.tip_after);
  return {on_axis, point, glm::length(on_axis - point)};
}

ToolTissue PressingTool::closest(const dvec3& from, const dvec3& to, double range) const {
  if (step_.part.shape) {
    ToolTissue found = closest_hull(sweep_.end, std::array{from, to}, range);
    const dvec3 edge = to - from;
    found.along = glm::dot(found.on_tissue - from, edge) / glm::dot(edge, edge);
    return found;
  }
  const closest::Segment axis = closest::segment(step_.pivot, step_.tip_after), edge = closest::segment(from, to);
  const closest::SegmentPair pair = closest::closest_segments(axis, edge);
  return {axis.p + pair.u * axis.d, edge.p + pair.v * edge.d, std::sqrt(pair.squared), pair.v};
}

ToolTissue PressingTool::closest(const Triangle& face, double range) const {
  if (step_.part.shape) return closest_hull(sweep_.end, std::array{face.a, face.b, face.c}, range);
  const ClosestPoints found = closest_segment_triangle(step_.pivot, step_.tip_after, face);
  return {found.on_first, found.on_second, found.distance};
}

bool PressingTool::is_beyond(const dvec3& point, double range) const {
  if (!step_.part.shape) return false;
  const dvec3 local = frame_.to_local(point), outside = glm::max(glm::max(low_ - local, local - high_), dvec3(0.0));
  return glm::dot(outside, outside) > range * range;
}

// Uses a ball around the face and the largest motion of any point of the tool.
bool PressingTool::may_touch(const Triangle& face, double range) const {
  const dvec3 centre = (face.a + face.b + face.c) / 3.0;
  const auto square = [&](const dvec3& p) { return glm::dot(p - centre, p - centre); };
  const double radius = std::sqrt(std::max({square(face.a), square(face.b), square(face.c)}));
  const double most = radius_ + range + radius + moved_;
  if (step_.part.shape) return !is_beyond(centre, most);
  const dvec3 away = closest_on_segment(centre, step_.pivot, step_.tip_after) - centre;
  return glm::dot(away, away) < most * most;
}

double PressingTool::contact_range(double reach) const { return radius_ + std::max(reach, moved_ + kTouchMargin); }

// No point of a part moves further than `moved_`. The refinement of a shaft decides by its own rounding.
bool PressingTool::may_have_touched(double distance) const {
  return !step_.part.shape || distance <= radius_ + moved_ + kTouchMargin;
}

// The gap between a part and the plane of the face across `normal` is at no time smaller than at the start or at the
// end, but for the bend of the paths. At the first contact the direction to the part is as long as the radius.
bool PressingTool::faces_all_along(const Triangle& face, const dvec3& normal, double distance, double cosine) const {
  if (!step_.part.shape) return false;
  const double top = std::max({glm::dot(normal, face.a), glm::dot(normal, face.b), glm::dot(normal, face.c)});
  double before = distance;
  for (const dvec3& corner : sweep_.start.corners()) before = std::min(before, glm::dot(normal, corner) - top);
  const double interval = step_.part.to - step_.part.from;
  return before - 0.125 * sweep_.acceleration * interval * interval > cosine * radius_ + kTouchMargin;
}

double PressingTool::depth_behind(const Triangle& face) const {
  const dvec3 area = glm::cross(face.b - face.a, face.c - face.a);
  double lowest = 0.0;
  for (const dvec3& corner : sweep_.end.corners()) lowest = std::min(lowest, glm::dot(area, corner - face.a));
  return -lowest / std::max(glm::length(area), 1e-30);
}

bool PressingTool::touches(const Triangle& face, Touch& touch) const {
  return step_.part.shape ? part_meets(sweep_, face, touch) : refine_touch(step_, face, touch);
}

namespace {

constexpr std::uint32_t kNone = ~0u;

// The contacts that remain, in a hash table of the cubes that hold their points. A slot may list several cubes.
class KeptContacts {
 public:
  KeptContacts(std::size_t first, float spacing, ContactList& list)
      : first_(first), spacing_(spacing), scratch_(list.thinning), list_(list) {
    scratch_.slot.assign(std::bit_ceil(scratch_.order.size() + 1), kNone);
    scratch_.next.resize(scratch_.point.size());
  }

  void add(std::uint32_t contact) {
    std::uint32_t& slot = slot_of(glm::ivec3(glm::floor(in_cubes(contact))));
    next_of(contact) = slot;
    slot = contact;
  }

  // Does one that remains stand for this contact?
  bool stands_for(std::uint32_t contact) const {
    const glm::ivec3 low(glm::floor(in_cubes(contact) - 0.5));
    for (int i = 0; i < 8; ++i)
      for (std::uint32_t k = slot_of(low + glm::ivec3(i & 1, i >> 1 & 1, i >> 2)); k != kNone; k = next_of(k))
        if (are_same(k, contact)) return true;
    return false;
  }

 private:
  const glm::vec3& point(std::uint32_t contact) const { return scratch_.point[contact - first_]; }
  bool are_same(std::uint32_t a, std::uint32_t b) const {
    const glm::vec3 apart = point(a) - point(b);
    return glm::dot(apart, apart) < spacing_ * spacing_ &&
           glm::dot(list_.contacts[a].normal, list_.contacts[b].normal) > kSameContactNormal;
  }
  std::uint32_t& next_of(std::uint32_t contact) const { return scratch_.next[contact - first_]; }
  // With a side above two spacings, everything within a spacing of a point lies in the eight cubes nearest to it.
  glm::dvec3 in_cubes(std::uint32_t contact) const { return glm::dvec3(point(contact)) / (2.001 * spacing_); }
  std::uint32_t& slot_of(const glm::ivec3& cube) const {
    const glm::uvec3 mixed = glm::uvec3(cube) * glm::uvec3(0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du);
    const std::uint32_t hash = mixed.x ^ mixed.y ^ mixed.z;
    return scratch_.slot[(hash ^ hash >> 15) & (scratch_.slot.size() - 1)];
  }

  std::size_t first_;
  float spacing_;
  ThinningScratch& scratch_;
  const ContactList& list_;
};

// Lists the contacts from the deepest outwards; equal gaps keep the order of the list.
void sort_by_gap(std::size_t first, std::span<const glm::vec3> positions, ContactList& list) {
  ThinningScratch& scratch = list.thinning;
  scratch.kept.resize(list.contacts.size() - first);
  std::iota(scratch.kept.begin(), scratch.kept.end(), static_cast<std::uint32_t>(first));
  std::sort(scratch.kept.begin(), scratch.kept.end(), [&](std::uint32_t a, std::uint32_t b) {
    return list.gap[a] != list.gap[b] ? list.gap[a] < list.gap[b] : a < b;
  });
  scratch.point.clear();
  for (std::size_t i = first; i < list.contacts.size(); ++i)
    scratch.point.push_back(contact_position(list.contacts[i], positions));
}

// Of those that are kept so far, keeps the ones that no deeper one stands for.
void thin(std::size_t first, float spacing, ContactList& list) {
  ThinningScratch& scratch = list.thinning;
  std::swap(scratch.order, scratch.kept);
  scratch.kept.clear();
  KeptContacts kept(first, spacing, list);
  for (const std::uint32_t i : scratch.order)
    if (!kept.stands_for(i)) kept.add(i), scratch.kept.push_back(i);
}

void drop_others(std::size_t first, ContactList& list) {
  std::sort(list.thinning.kept.begin(), list.thinning.kept.end());
  std::size_t to = first;
  for (const std::uint32_t i : list.thinning.kept) {
    list.contacts[to] = list.contacts[i];
    list.face_of[to] = list.face_of[i];
    list.gap[to++] = list.gap[i];
  }
  list.contacts.resize(to);
  list.face_of.resize(to);
  list.gap.resize(to);
}

}  // namespace

void thin_contacts(std::size_t first, std::span<const glm::vec3> positions, ContactList& list, std::size_t many) {
  sort_by_gap(first, positions, list);
  thin(first, kSameContact, list);
  for (float spacing = kContactSpacing; spacing <= kWidestSpacing && list.thinning.kept.size() > many; spacing *= 2.f)
    thin(first, spacing, list);
  drop_others(first, list);
}

namespace {

// When the direction to the tool turns by more than 60 degrees within a step, the tool has passed the point.
constexpr double kSameSide = 0.5;

// A part moves no further in a contact substep, unless it is faster than 1.1 m/s: a thin part would leave too many
// points of a face behind it.
constexpr double kLongestPartStride = 4e-4;  // m
constexpr int kMostPartSubsteps = 48;
// Candidates times substeps: a part that is buried in many small faces gets fewer substeps.
constexpr double kMostPartWork = 60000.0;

// Tissue may become this much faster within a contact substep.
constexpr double kSpeedReserve = 2.0;  // 1

// A part whose polytope a face crosses has pierced it when it goes this far beyond. Contacts leave shallower crossings.
constexpr double kPierced = 1.5e-3;  // m

double part_speed(const MovingPart& part) { return motion_bounds(*part.motion, *part.shape).speed; }

// Two points closer than this do not define a direction.
constexpr double kCoincident = 1e-9;  // m

CandidateMeeting against_end_pose(const ToolTissue& closest) {
  const glm::dvec3 normal = (closest.on_tool - closest.on_tissue) / std::max(closest.distance, kCoincident);
  return {true, false, closest.on_tissue, normal, closest.distance};
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

// Returns within which distance of a tool the face gets contacts, m.
double reach_of(std::size_t tool, const glm::uvec3& corners, const ContactList& list) {
  const TissueMotion& motion = list.motion;
  double fastest = 0.0;
  for (int i = 0; i < 3; ++i) {
    if (corners[i] >= motion.embedding.size()) return list.params.reach;
    fastest =
        std::max(fastest, static_cast<double>(glm::length(weighted(motion.embedding[corners[i]], motion.velocity))));
  }
  if (tool < motion.dents.size()) fastest += glm::length(glm::dvec3(motion.dents[tool].speed));
  return std::min(list.params.least_reach + kSpeedReserve * fastest * motion.dt, list.params.reach);
}

ToolTissue no_contact(const glm::dvec3& p) { return {p, p, INFINITY}; }

// Returns where a corner comes closest to the tool, which gives a contact; an infinite distance if there is none. A
// corner has a contact of its own because a face held at only one point would swing into the tool at another.
ToolTissue meet_corner(const PressingTool& tool, const glm::dvec3& p, const glm::dvec3& face_normal, double reach) {
  const double range = tool.radius() + reach;
  if (tool.is_beyond(p, range)) return no_contact(p);
  const ToolTissue closest = tool.closest(p, range);
  const bool near = closest.distance < range;
  const bool ahead =
      !(glm::dot(closest.on_tool - p, face_normal) < kSameSide * std::max(closest.distance, kCoincident));
  return near && ahead ? closest : no_contact(p);
}

// A corner that several faces share has one contact.
void add_corner(const ToolTissue& closest, std::uint32_t vertex, ContactList& out) {
  if (!std::isfinite(closest.distance) || out.added_vertex[vertex] == out.round) return;
  out.added_vertex[vertex] = out.round;
  out.add({out.tool(), vertex, glm::vec3((closest.on_tool - closest.on_tissue) / closest.distance)}, closest.distance);
}

// Returns where an edge comes closest to a tool that crosses it, which gives a contact; an infinite distance if there
// is none. Of its two faces, the one that traverses the edge upwards adds it.
ToolTissue meet_edge(const PressingTool& tool, std::uint32_t from, std::uint32_t to, const glm::dvec3& a,
                     const glm::dvec3& b, const glm::dvec3& face_normal, double reach) {
  constexpr double kEnd = 0.05;  // of the edge; closer to a corner, the corner's own contact suffices
  const double range = tool.radius() + reach;
  if (from > to || tool.is_beyond(0.5 * (a + b), range + 0.5 * glm::distance(a, b))) return no_contact(a);
  const ToolTissue closest = tool.closest(a, b, range);
  if (!(closest.along >= kEnd && closest.along <= 1.0 - kEnd) || !(closest.distance < range) ||
      closest.distance <= kCoincident)
    return no_contact(a);
  const glm::dvec3 to_tool = closest.on_tool - closest.on_tissue;
  return glm::dot(to_tool, face_normal) < kSameSide * closest.distance ? no_contact(a) : closest;
}

void add_edge(const ToolTissue& closest, std::uint32_t from, std::uint32_t to, ContactList& out) {
  if (!std::isfinite(closest.distance)) return;
  const glm::dvec3 to_tool = closest.on_tool - closest.on_tissue;
  out.add({out.tool(), from, glm::vec3(to_tool / closest.distance), to, from, static_cast<float>(closest.along), 0.f},
          closest.distance);
}

std::uint64_t key_of(std::uint32_t tool, FaceId face) { return std::uint64_t{tool} << 32 | index(face); }

// Is a thin part now behind a face that it was pressing? Then the contact stays on the old side. A part that went
// around the face's border is not straight behind it.
bool is_behind_met(const PressingTool& tool, std::uint32_t number, FaceId id, const Triangle& face,
                   const glm::dvec3& to_tool, const ContactList& list) {
  constexpr double kStraightBehind = -0.7;  // cosine
  if (!tool.is_part() || !list.was_met(number, id)) return false;
  const glm::dvec3 area = glm::cross(face.b - face.a, face.c - face.a);
  return glm::dot(area, to_tool) < kStraightBehind * glm::length(area);
}

CandidateMeeting meet_face(const PressingTool& tool, std::uint32_t number, FaceId id, const glm::uvec3& corners,
                           std::span<const glm::vec3> positions, const ContactList& list) {
  const Triangle face = list.met_by(number, corners, positions);
  if (!tool.may_touch(face, list.params.reach)) return {};
  const double reach = reach_of(number, corners, list);
  const ToolTissue closest = tool.closest(face, tool.contact_range(reach));
  CandidateMeeting found = against_end_pose(closest);
  const bool near = closest.distance < tool.radius() + reach;
  Touch touch;
  if (!near || !tool.faces_all_along(face, found.normal, closest.distance, kSameSide)) {
    const bool touched = tool.may_have_touched(closest.distance) && tool.touches(face, touch);
    if (!touched && !near) return {};
    const bool passed = touched && glm::dot(found.normal, glm::dvec3(touch.normal)) < kSameSide;
    if (touched && (passed || closest.distance <= kCoincident))
      found.point = glm::dvec3(touch.point), found.normal = glm::dvec3(touch.normal), found.distance = 0.0;
  }
  found.pierces = tool.is_part() && closest.distance <= kCoincident && tool.depth_behind(face) > kPierced;
  if (is_behind_met(tool, number, id, face, found.normal, list)) {
    found.normal = glm::normalize(glm::cross(face.b - face.a, face.c - face.a));
    found.distance = 0.0;
  } else if (behind(face, found.normal)) {
    found.meets = false;
    return found;
  }
  return found;
}

// The contact of a face itself, without its corners and edges.
void add_face(const CandidateMeeting& met, std::size_t tool, FaceId id, const glm::uvec3& corners,
              std::span<const glm::vec3> positions, ContactList& out) {
  const glm::dvec3 w = corner_weights(out.met_by(tool, corners, positions), met.point);
  out.add({out.tool(), corners.x, glm::vec3(met.normal), corners.y, corners.z, static_cast<float>(w.y),
           static_cast<float>(w.z)},
          met.distance);
  out.face_of.push_back(id);
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

Triangle ContactList::met_by(std::size_t tool, const glm::uvec3& corners, std::span<const glm::vec3> positions) const {
  const Triangle face = triangle_of(positions, corners);
  if (tool >= motion.dents.size()) return face;
  const glm::dvec3 shift(motion.dents[tool].shift);
  return {face.a - shift, face.b - shift, face.c - shift};
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
  meetings.reserve(count);
  chosen.reserve(count);
}

void ContactList::forget() {
  const ContactParams kept = params;
  *this = ContactList{};
  params = kept;
}

void begin_candidates(ContactList& list, std::span<const Dent> dents) {
  list.motion.dents = dents;
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
    if (pressing.may_touch(list.met_by(tool, faces[index(face)], positions), list.params.candidate_reach))
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

bool ContactList::was_met(std::uint32_t tool, FaceId face) const {
  return std::binary_search(met_before.begin(), met_before.end(), key_of(tool, face));
}

void begin_contacts(ContactList& list, const TissueMotion& motion) {
  list.motion = motion;
  list.meetings.resize(list.candidates.size());
  std::swap(list.met, list.met_before);
  list.met.clear();
  list.contacts.clear();
  list.face_of.clear();
  list.gap.clear();
  list.first.assign(1, 0);
  list.pierced.clear();
  list.chosen.clear();
  list.first_chosen.assign(1, 0);
}

void meet_candidates(const PressingTool& pressing, std::span<const glm::uvec3> faces,
                     std::span<const glm::vec3> positions, std::size_t tool, std::size_t first, std::size_t last,
                     ContactList& list) {
  for (std::size_t i = first; i < last; ++i) {
    const FaceId face = list.candidates[i];
    list.meetings[i] = meet_face(pressing, static_cast<std::uint32_t>(tool), face, faces[index(face)], positions, list);
  }
}

namespace {

void mark_held(std::span<const std::uint32_t> held, std::size_t vertices, ContactList& list) {
  if (list.added_vertex.size() != vertices) {
    list.added_vertex.assign(vertices, list.round);
    list.held_vertex.assign(vertices, list.round);
  }
  ++list.round;
  for (const std::uint32_t vertex : held)
    if (vertex < list.held_vertex.size()) list.held_vertex[vertex] = list.round;
}

int held_corners(const ContactList& list, const glm::uvec3& face) {
  return (list.held_vertex[face.x] == list.round) + (list.held_vertex[face.y] == list.round) +
         (list.held_vertex[face.z] == list.round);
}

std::size_t most_contacts(const PressingTool& tool) { return tool.is_part() ? kManyContacts : kManyOfAShaft; }

}  // namespace

void choose_faces(const PressingTool& pressing, std::size_t tool, std::span<const glm::uvec3> faces,
                  std::span<const glm::vec3> positions, ContactList& list, std::span<const std::uint32_t> held) {
  mark_held(held, positions.size(), list);
  list.pierced.push_back(0);
  if (list.has_candidates(tool)) {
    const std::size_t before = list.contacts.size(), most = most_contacts(pressing);
    const std::uint32_t first = list.first_candidate[tool], last = list.first_candidate[tool + 1];
    for (std::uint32_t i = first; i < last; ++i) {
      const CandidateMeeting& met = list.meetings[i];
      const FaceId id = list.candidates[i];
      if (!(met.meets || met.pierces) || held_corners(list, faces[index(id)]) == 3) continue;
      if (met.pierces) list.pierced.back() = 1;
      if (!met.meets) continue;
      if (pressing.is_part()) list.met.push_back(key_of(static_cast<std::uint32_t>(tool), id));
      add_face(met, tool, id, faces[index(id)], positions, list);
    }
    // Of faces much smaller than the distance between contacts, only those that remain get contacts at all.
    if (list.contacts.size() - before > most) thin_contacts(before, positions, list, most);
    std::uint32_t i = first;
    for (std::size_t k = before; k < list.face_of.size(); ++k, ++i) {
      while (list.candidates[i] != list.face_of[k]) ++i;
      const bool smooth = held_corners(list, faces[index(list.face_of[k])]) > 0;
      list.chosen.push_back({i, static_cast<std::uint32_t>(tool), smooth, {}, {}});
    }
    list.contacts.resize(before), list.face_of.resize(before), list.gap.resize(before);
  }
  list.first_chosen.push_back(static_cast<std::uint32_t>(list.chosen.size()));
}

void meet_chosen(const PressingTool& pressing, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                 std::size_t first, std::size_t last, ContactList& list) {
  for (std::size_t k = first; k < last; ++k) {
    ChosenFace& chosen = list.chosen[k];
    const glm::uvec3& corners = faces[index(list.candidates[chosen.candidate])];
    const glm::dvec3& normal = list.meetings[chosen.candidate].normal;
    const Triangle face = list.met_by(chosen.tool, corners, positions);
    const double reach = reach_of(chosen.tool, corners, list);
    chosen.corner = {meet_corner(pressing, face.a, normal, reach), meet_corner(pressing, face.b, normal, reach),
                     meet_corner(pressing, face.c, normal, reach)};
    chosen.edge = {meet_edge(pressing, corners.x, corners.y, face.a, face.b, normal, reach),
                   meet_edge(pressing, corners.y, corners.z, face.b, face.c, normal, reach),
                   meet_edge(pressing, corners.z, corners.x, face.c, face.a, normal, reach)};
  }
}

void list_contacts(const PressingTool& pressing, std::span<const glm::uvec3> faces,
                   std::span<const glm::vec3> positions, ContactList& list) {
  ++list.round;
  for (std::uint32_t k = list.first_chosen[list.tool()]; k < list.first_chosen[list.tool() + 1]; ++k) {
    const ChosenFace& chosen = list.chosen[k];
    const FaceId id = list.candidates[chosen.candidate];
    const glm::uvec3& corners = faces[index(id)];
    const std::size_t before = list.contacts.size();
    add_face(list.meetings[chosen.candidate], chosen.tool, id, corners, positions, list);
    for (int i = 0; i < 3; ++i) add_corner(chosen.corner[i], corners[i], list);
    for (int i = 0; i < 3; ++i) add_edge(chosen.edge[i], corners[i], corners[(i + 1) % 3], list);
    list.face_of.resize(list.contacts.size(), id);
    for (std::size_t i = before; i < list.contacts.size(); ++i) list.contacts[i].smooth = chosen.smooth;
  }
  const std::size_t first = list.first.back(), many = most_contacts(pressing);
  if (pressing.is_part() || list.contacts.size() - first > many) thin_contacts(first, positions, list, many);
  list.first.push_back(static_cast<std::uint32_t>(list.contacts.size()));
}

void add_contacts(const ToolStep& piece, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                  ContactList& list, std::span<const std::uint32_t> held) {
  const PressingTool pressing(piece);
  const std::size_t tool = list.tool();
  if (list.has_candidates(tool))
    meet_candidates(pressing, faces, positions, tool, list.first_candidate[tool], list.first_candidate[tool + 1], list);
  choose_faces(pressing, tool, faces, positions, list, held);
  meet_chosen(pressing, faces, positions, list.first_chosen[tool], list.first_chosen[tool + 1], list);
  list_contacts(pressing, faces, positions, list);
}

void choose_no_faces(ContactList& list) {
  list.pierced.push_back(0);
  list.first_chosen.push_back(static_cast<std::uint32_t>(list.chosen.size()));
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

namespace {

// The contacts of a face by one tool follow each other.
void list_loads(ContactList& list, const SteppedTissue& state, std::span<const glm::vec3> positions) {
  list.loads.clear();
  for (std::size_t i = 0; i < list.contacts.size();) {
    FaceLoad load{static_cast<std::uint32_t>(index(list.face_of[i])), glm::vec3(0.f), 0.f};
    for (; i < list.contacts.size() && index(list.face_of[i]) == load.slot; ++i) {
      const float force = glm::length(contact_force(state, i, i + 1));
      load.force += force;
      load.point += force * contact_position(list.contacts[i], positions);
    }
    if (!(load.force > 0.f)) continue;
    load.point /= load.force;
    list.loads.push_back(load);
  }
}

}  // namespace

float patch_pressure(std::span<const FaceLoad> loads, const glm::vec3& at, float area) {
  const float squared_radius = area / std::numbers::pi_v<float>;
  float sum = 0.f;
  for (const FaceLoad& load : loads) {
    const glm::vec3 apart = load.point - at;
    sum += load.force * std::max(0.f, 1.f - glm::dot(apart, apart) / squared_radius);
  }
  return 2.f * sum / area;
}

void add_contact_damage(ContactList& list, const SteppedTissue& state, std::span<const FaceId> ids,
                        std::span<const glm::vec3> positions, float dt, std::span<float> pressure,
                        TissueDamage& damage) {
  list_loads(list, state, positions);
  for (const FaceLoad& load : list.loads) {
    const std::uint32_t id = index(ids[load.slot]);
    // Two tools may press the same face: it takes the larger pressure.
    const float before = pressure[load.slot];
    const float now = std::max(before, patch_pressure(list.loads, load.point, list.params.patch_area));
    pressure[load.slot] = now;
    damage.peak[id] = std::max(damage.peak[id], now);
    damage.integral[id] += (now - before) * dt;
  }
}

void clear_pressure(const ContactList& list, std::span<float> pressure) {
  for (const FaceId slot : list.face_of) pressure[index(slot)] = 0.f;
}

}  // namespace trocar
