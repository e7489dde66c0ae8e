#include "study/bsp/bsp_solid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/refine.hpp"

namespace trocar {

using solids::PointLocation;

namespace {

// A face is met up to this many tolerances beyond its corners; the walk needs a larger margin.
constexpr double kCornerTolerances = 2.0, kWalkTolerances = 4.0;

double signed_distance(const glm::dvec4& plane, const glm::dvec3& p) {
  return glm::dot(glm::dvec3(plane), p) + plane.w;
}

// Returns the part of a segment within the three sides of a face, each moved outwards by `tolerance`. n: unit normal.
std::optional<double> first_between_sides(const glm::dvec3& from, const glm::dvec3& to, const Triangle& face,
                                          const glm::dvec3& n, double tolerance) {
  double low = 0.0, high = 1.0;
  const glm::dvec3 corner[3] = {face.a, face.b, face.c};
  for (int i = 0; i < 3; ++i) {
    const glm::dvec3 inward = glm::normalize(glm::cross(n, corner[(i + 1) % 3] - corner[i]));
    const double a = glm::dot(inward, from - corner[i]) + tolerance, b = glm::dot(inward, to - corner[i]) + tolerance;
    if (a < 0.0 && b < 0.0) return std::nullopt;
    if (a < 0.0) low = std::max(low, a / (a - b));
    if (b < 0.0) high = std::min(high, a / (a - b));
  }
  return low <= high ? std::optional(low) : std::nullopt;
}

double parameter_of(const glm::dvec3& from, const glm::dvec3& to, const glm::dvec3& point) {
  const glm::dvec3 direction = to - from;
  const double squared = glm::dot(direction, direction);
  return squared > 0.0 ? std::clamp(glm::dot(point - from, direction) / squared, 0.0, 1.0) : 0.0;
}

// Returns the part of a stretch at `height` or above, where a and b are the heights of its ends; from > to if there is
// none.
template <class Stretch>
Stretch above(double a, double b, double height, const Stretch& whole, std::uint32_t child) {
  Stretch part{child, whole.from, whole.to};
  if (a < height && b < height) return {child, 1.0, 0.0};
  if (a >= height && b >= height) return part;
  const double crossing = whole.from + (whole.to - whole.from) * ((height - a) / (b - a));
  (a < height ? part.from : part.to) = crossing;
  return part;
}

}  // namespace

std::optional<double> first_meeting(const glm::dvec3& from, const glm::dvec3& to, const Triangle& face,
                                    double tolerance) {
  const glm::dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
  const double size = glm::length(normal);
  const double longest =
      std::max({glm::length(face.b - face.a), glm::length(face.c - face.a), glm::length(face.c - face.b)});
  if (!(size > tolerance * longest)) {
    const ClosestPoints closest = closest_segment_triangle(from, to, face);
    if (closest.distance > tolerance) return std::nullopt;
    return parameter_of(from, to, closest.on_first);
  }
  const glm::dvec3 n = normal / size;
  const double a = glm::dot(n, from - face.a), b = glm::dot(n, to - face.a);
  if ((a > tolerance && b > tolerance) || (a < -tolerance && b < -tolerance)) return std::nullopt;
  // First the part of the segment within the tolerance of the plane is kept, then the part within the sides.
  const auto at_height = [&](double height) { return std::clamp((height - a) / (b - a), 0.0, 1.0); };
  const double low = std::abs(a) > tolerance ? at_height(std::copysign(tolerance, a)) : 0.0;
  const double high = std::abs(b) > tolerance ? at_height(std::copysign(tolerance, b)) : 1.0;
  const glm::dvec3 start = from + low * (to - from), end = from + high * (to - from);
  const auto within = first_between_sides(start, end, face, n, tolerance);
  if (!within) return std::nullopt;
  // Beyond a sharp corner the outward-moved sides meet far away.
  const double t = low + *within * (high - low);
  const glm::dvec3 at = from + t * (to - from);
  if (closest_segment_triangle(at, at, face).distance > kCornerTolerances * tolerance) return std::nullopt;
  return t;
}

BspSolid::BspSolid(const MeshView& mesh, const BspParams& params) : mesh_(mesh), asked_(mesh.faces.size(), 0) {
  BspScratch scratch;
  build_bsp_tree(mesh, params, scratch, tree_);
}

void BspSolid::meet_faces(const BspNode& node, const glm::dvec3& from, const glm::dvec3& to) {
  for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
    const std::uint32_t face = tree_.faces[k];
    if (asked_[face] == question_) continue;
    asked_[face] = question_;
    const auto t = first_meeting(from, to, triangle_of(mesh_.positions, mesh_.faces[face]), tree_.tolerance);
    if (!t) continue;
    meetings_.push_back({FaceId(face), *t});
    nearest_ = std::min(nearest_, *t);
  }
}

// Visits the near side of each node before the far one. With `only_first`, skips a stretch beyond the first hit.
void BspSolid::walk(const glm::dvec3& from, const glm::dvec3& to, bool only_first) {
  meetings_.clear();
  waiting_.clear();
  ++question_;
  nearest_ = std::numeric_limits<double>::infinity();
  const double margin = kWalkTolerances * tree_.tolerance;
  const glm::dvec3 direction = to - from;
  if (!is_leaf(tree_.root)) waiting_.push_back({tree_.root, 0.0, 1.0});
  while (!waiting_.empty()) {
    const Stretch at = waiting_.back();
    waiting_.pop_back();
    if (only_first && nearest_ < at.from) continue;
    const BspNode& node = tree_.nodes[at.node];
    if (glm::dvec3(node.plane) == glm::dvec3(0.0)) {
      meet_faces(node, from, to);
      continue;
    }
    const double a = signed_distance(node.plane, from + at.from * direction),
                 b = signed_distance(node.plane, from + at.to * direction);
    if (std::min(a, b) <= margin && std::max(a, b) >= -margin) meet_faces(node, from, to);
    const Stretch front = above(a, b, -margin, at, node.front), back = above(-a, -b, -margin, at, node.back);
    for (const Stretch& side : {a < 0.0 ? front : back, a < 0.0 ? back : front})
      if (!is_leaf(side.node) && side.from <= side.to) waiting_.push_back(side);
  }
}

std::span<const SegmentMeeting> BspSolid::crossed(const glm::dvec3& from, const glm::dvec3& to) {
  walk(from, to, false);
  std::sort(meetings_.begin(), meetings_.end(),
            [](const SegmentMeeting& a, const SegmentMeeting& b) { return a.t != b.t ? a.t < b.t : a.face < b.face; });
  return meetings_;
}

std::optional<SegmentMeeting> BspSolid::first_crossed(const glm::dvec3& from, const glm::dvec3& to) {
  walk(from, to, true);
  const auto first = std::min_element(
      meetings_.begin(), meetings_.end(),
      [](const SegmentMeeting& a, const SegmentMeeting& b) { return a.t != b.t ? a.t < b.t : a.face < b.face; });
  return first == meetings_.end() ? std::nullopt : std::optional(*first);
}

bool BspSolid::on_a_face(const BspNode& node, const glm::dvec3& point) const {
  for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
    const Triangle face = triangle_of(mesh_.positions, mesh_.faces[tree_.faces[k]]);
    if (closest_segment_triangle(point, point, face).distance <= tree_.tolerance) return true;
  }
  return false;
}

// Returns nothing where the tree cannot decide.
std::optional<PointLocation> BspSolid::locate_below(std::uint32_t child, const glm::dvec3& point) const {
  while (!is_leaf(child)) {
    const BspNode& node = tree_.nodes[child];
    const double d = signed_distance(node.plane, point);
    const bool unsplit = glm::dvec3(node.plane) == glm::dvec3(0.0);
    if (unsplit || std::abs(d) <= tree_.tolerance) {
      if (on_a_face(node, point)) return PointLocation::OnSurface;
      const auto front = locate_below(node.front, point), back = locate_below(node.back, point);
      if (front == PointLocation::OnSurface || back == PointLocation::OnSurface) return PointLocation::OnSurface;
      return front == back ? front : std::nullopt;
    }
    child = d > 0.0 ? node.front : node.back;
  }
  if (child == static_cast<std::uint32_t>(BspLeaf::Unknown)) return std::nullopt;
  return child == static_cast<std::uint32_t>(BspLeaf::Inside) ? PointLocation::Inside : PointLocation::Outside;
}

PointLocation BspSolid::locate(const glm::dvec3& point) const {
  if (const auto known = locate_below(tree_.root, point)) return *known;
  return std::abs(solids::winding_number(mesh_, point)) > 0.5 ? PointLocation::Inside : PointLocation::Outside;
}

}  // namespace trocar
