#include "deform/rigid/piece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Corners this close to a plane lie in it.
constexpr double kInPlane = 1e-8;  // m
// Closest points of two hulls nearer than this give no direction: the axes do.
constexpr double kHullsMeet = 2e-5;  // m
// A face whose normal is nearer than 0.045 rad to the line between the closest points may be what a meeting rests on,
// if what lies on it comes as close, up to an error.
constexpr double kNearlyNormal = 0.999;  // cosine
constexpr double kAsClose = 2e-5;        // m
// Of two faces that separate equally well, the first counts.
constexpr double kRestsOnFace = 2e-9;  // m
// Two edges whose directions differ by less are parallel.
constexpr double kParallelSine = 0.05;
// An axis of two edges must separate this much better than that of a face.
constexpr double kFaceFirst = 1e-5;  // m
// Where a corner leans back from the touching one by up to this, it counts as part of the same edge or face.
constexpr double kSameFeature = 1e-3;  // m

constexpr double kLargestPiece = 10.0, kLargestRounding = 1.0;  // m

double most_along(std::span<const dvec3> corners, const dvec3& direction) {
  double most = glm::dot(corners[0], direction);
  for (const dvec3& corner : corners.subspan(1)) most = std::max(most, glm::dot(corner, direction));
  return most;
}
double least_along(std::span<const dvec3> corners, const dvec3& direction) { return -most_along(corners, -direction); }

// Sorts points of a plane with this normal into their convex outline, counter-clockwise seen from its tip: Andrew's
// monotone chain. Points inside, or on a side, are dropped. Returns their number.
struct PlanePoint {
  double u, v;
  std::uint8_t index;
};
double turn(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}
template <std::size_t N>
int outline(const dvec3& normal, std::span<const dvec3> points, std::array<std::uint8_t, N>& indices, int count) {
  const dvec3 u = glm::normalize(any_perpendicular(normal)), v = glm::cross(normal, u);
  std::array<PlanePoint, N> in;
  std::array<PlanePoint, 2 * N + 2> out;
  for (int k = 0; k < count; ++k) {
    const dvec3& p = points[indices[k]];
    in[k] = {glm::dot(p, u), glm::dot(p, v), indices[k]};
  }
  std::sort(in.begin(), in.begin() + count, [](const PlanePoint& a, const PlanePoint& b) {
    if (a.u != b.u) return a.u < b.u;
    return a.v != b.v ? a.v < b.v : a.index < b.index;
  });
  constexpr double kStraight = 1e-14;  // m^2
  int n = 0;
  const auto add = [&](const PlanePoint& p, int from) {
    while (n >= from + 2 && turn(out[n - 2], out[n - 1], p) <= kStraight) --n;
    out[n++] = p;
  };
  for (int k = 0; k < count; ++k) add(in[k], 0);
  const int lower = n - 1;
  for (int k = count - 2; k >= 0; --k) add(in[k], lower);
  if (n > 1) --n;  // the first point again
  for (int k = 0; k < n; ++k) indices[k] = out[k].index;
  return n;
}

void add_edges(const PieceFace& face, ConvexPiece& piece) {
  for (std::size_t k = 0; k < face.loop.size(); ++k) {
    const std::uint8_t a = face.loop[k], b = face.loop[(k + 1) % face.loop.size()];
    const std::array<std::uint8_t, 2> edge{std::min(a, b), std::max(a, b)};
    if (std::find(piece.edges.begin(), piece.edges.end(), edge) == piece.edges.end()) piece.edges.push_back(edge);
  }
}

// Adds the face in the plane through three corners, if all others lie behind it and it is new.
void add_face(const dvec3& normal, double offset, ConvexPiece& piece) {
  for (const PieceFace& face : piece.faces)
    if (glm::dot(face.normal, normal) > 1.0 - 1e-12) return;
  std::array<std::uint8_t, kMostCorners> on;
  int count = 0;
  for (std::size_t k = 0; k < piece.corners.size(); ++k) {
    const double beyond = glm::dot(piece.corners[k], normal) - offset;
    if (beyond > kInPlane) return;
    if (beyond >= -kInPlane) on[count++] = static_cast<std::uint8_t>(k);
  }
  count = outline(normal, piece.corners, on, count);
  if (count < 3) return;
  PieceFace face{normal, {on.begin(), on.begin() + count}};
  add_edges(face, piece);
  piece.faces.push_back(std::move(face));
}

void find_faces(ConvexPiece& piece) {
  const std::vector<dvec3>& p = piece.corners;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = i + 1; j < p.size(); ++j)
      for (std::size_t k = j + 1; k < p.size(); ++k) {
        const dvec3 n = glm::cross(p[j] - p[i], p[k] - p[i]);
        const double length = glm::length(n);
        if (!(length > 1e-12)) continue;
        for (const double side : {1.0, -1.0}) {
          const dvec3 normal = side / length * n;
          add_face(normal, glm::dot(p[i], normal), piece);
        }
      }
  if (!piece.faces.empty() || p.size() < 2) return;
  // All in a line: its ends.
  std::size_t from = 0, to = 0;
  for (std::size_t k = 1; k < p.size(); ++k)
    if (glm::distance(p[k], p[0]) > glm::distance(p[from], p[0])) from = k;
  for (std::size_t k = 0; k < p.size(); ++k)
    if (glm::distance(p[k], p[from]) > glm::distance(p[to], p[from])) to = k;
  if (glm::distance(p[from], p[to]) > 0.0)
    piece.edges.push_back(
        {static_cast<std::uint8_t>(std::min(from, to)), static_cast<std::uint8_t>(std::max(from, to))});
}

}  // namespace

ConvexPiece make_piece(std::span<const dvec3> corners, double radius) {
  if (corners.empty() || corners.size() > kMostCorners)
    throw InputError(fmt::format("a piece has {} corners; give it 1 to {}", corners.size(), kMostCorners));
  if (!(radius >= kLeastRounding && radius <= kLargestRounding))
    throw InputError(
        fmt::format("a piece has a rounding of {} m; it must be {} to {} m", radius, kLeastRounding, kLargestRounding));
  for (const dvec3& corner : corners)
    for (int axis = 0; axis < 3; ++axis)
      if (!(std::abs(corner[axis]) <= kLargestPiece))
        throw InputError(
            fmt::format("a corner of a piece is at {} m; it must be within {} m", corner[axis], kLargestPiece));
  ConvexPiece piece{{corners.begin(), corners.end()}, radius, {}, {}};
  find_faces(piece);
  return piece;
}

void pose(const ConvexPiece& piece, const RigidFrame& frame, PosedPiece& posed) {
  posed.piece = &piece;
  posed.axes = frame.axes;
  for (std::size_t k = 0; k < piece.corners.size(); ++k) {
    const dvec3 at = posed.corner[k] = frame.to_world(piece.corners[k]);
    posed.low = k == 0 ? at : glm::min(posed.low, at);
    posed.high = k == 0 ? at : glm::max(posed.high, at);
  }
  posed.low -= piece.radius;
  posed.high += piece.radius;
}

namespace {

// The direction in which two pieces meet, and the face of either that it belongs to.
struct Axis {
  dvec3 normal{0.0};                // unit, from the first to the second
  double apart = 0.0;               // m, between the hulls along it
  const PieceFace* face = nullptr;  // normal to it
  bool of_second = false;
};

double separation(const PosedPiece& first, const PosedPiece& second, const dvec3& normal) {
  return least_along(second.corners(), normal) - most_along(first.corners(), normal);
}

// The face of either whose plane separates the hulls best, if it is about normal to their closest points: it carries
// the whole of what lies on it, and not the closest point alone.
Axis rest_on_face(const PosedPiece& first, const PosedPiece& second, const dvec3& closest) {
  Axis best{closest, -INFINITY, nullptr, false};
  for (const bool of_second : {false, true})
    for (const PieceFace& face : (of_second ? second : first).piece->faces) {
      const dvec3 normal = (of_second ? -1.0 : 1.0) * ((of_second ? second : first).axes * face.normal);
      if (glm::dot(normal, closest) < kNearlyNormal) continue;
      const double apart = separation(first, second, normal);
      if (apart > best.apart + kRestsOnFace) best = {normal, apart, &face, of_second};
    }
  return best;
}

dvec3 edge_of(const PosedPiece& posed, const std::array<std::uint8_t, 2>& edge) {
  return posed.corner[edge[1]] - posed.corner[edge[0]];
}

// The axis along which the overlap of two hulls that meet is smallest.
Axis least_overlap(const PosedPiece& first, const PosedPiece& second) {
  Axis best{dvec3(0.0, 0.0, 1.0), -INFINITY, nullptr, false};
  for (const bool of_second : {false, true})
    for (const PieceFace& face : (of_second ? second : first).piece->faces) {
      const dvec3 normal = (of_second ? -1.0 : 1.0) * ((of_second ? second : first).axes * face.normal);
      const double apart = separation(first, second, normal);
      if (apart > best.apart + (of_second ? kFaceFirst : 0.0)) best = {normal, apart, &face, of_second};
    }
  for (const auto& a : first.piece->edges)
    for (const auto& b : second.piece->edges) {
      const dvec3 da = edge_of(first, a), db = edge_of(second, b);
      const dvec3 cross = glm::cross(da, db);
      const double length = glm::length(cross);
      if (!(length > 1e-6 * glm::length(da) * glm::length(db))) continue;
      for (const double side : {1.0, -1.0}) {
        const dvec3 normal = side / length * cross;
        const double apart = separation(first, second, normal);
        if (apart > best.apart + kFaceFirst) best = {normal, apart, nullptr, false};
      }
    }
  if (std::isfinite(best.apart)) return best;
  // Two points, or segments in a line: any direction across.
  const auto& edges = first.piece->edges.empty() ? second.piece->edges : first.piece->edges;
  if (!edges.empty()) {
    const dvec3 along = edge_of(first.piece->edges.empty() ? second : first, edges[0]);
    best.normal = glm::normalize(any_perpendicular(along));
  }
  best.apart = separation(first, second, best.normal);
  return best;
}

// Points of one piece that lean on the other, as a point, a line or an outline. Clipping makes more of them.
struct Patch {
  static constexpr int kMost = 2 * static_cast<int>(kMostCorners);
  std::array<dvec3, kMost> point;
  int count = 0;
};

// The corners that are about as far along `direction` as the farthest.
Patch leaning(const PosedPiece& posed, const dvec3& direction) {
  const double most = most_along(posed.corners(), direction);
  std::array<std::uint8_t, kMostCorners> index;
  int count = 0;
  for (std::size_t k = 0; k < posed.piece->corners.size(); ++k)
    if (glm::dot(posed.corner[k], direction) >= most - kSameFeature) index[count++] = static_cast<std::uint8_t>(k);
  if (count > 2) count = outline(direction, posed.corners(), index, count);
  Patch patch;
  for (int k = 0; k < count; ++k) patch.point[patch.count++] = posed.corner[index[k]];
  return patch;
}

// Keeps what lies behind a plane: Sutherland, Hodgman, "Reentrant polygon clipping", Communications of the ACM 17,
// 1974. A patch of two points is a segment.
void clip(const dvec3& normal, double offset, Patch& patch) {
  Patch kept;
  const int sides = patch.count == 2 ? 1 : patch.count;
  const auto keep = [&](const dvec3& p) {
    if (kept.count < Patch::kMost) kept.point[kept.count++] = p;
  };
  for (int k = 0; k < sides; ++k) {
    const dvec3 &a = patch.point[k], &b = patch.point[(k + 1) % patch.count];
    const double from = glm::dot(a, normal) - offset, to = glm::dot(b, normal) - offset;
    if (from <= 0.0) keep(a);
    if ((from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0)) keep(a + from / (from - to) * (b - a));
    if (patch.count == 2 && to <= 0.0) keep(b);
  }
  patch = kept;
}

// Keeps four of the points: the deepest, the one farthest from it, and the two that span the largest areas with them.
void thin_out(PieceMeeting& meeting, std::span<const MeetingPoint> points) {
  std::array<std::size_t, 4> chosen{};
  for (std::size_t k = 1; k < points.size(); ++k)
    if (points[k].gap < points[chosen[0]].gap) chosen[0] = k;
  const dvec3 first = points[chosen[0]].at;
  for (std::size_t k = 1; k < points.size(); ++k)
    if (glm::distance(points[k].at, first) > glm::distance(points[chosen[1]].at, first)) chosen[1] = k;
  const dvec3 across = glm::cross(meeting.normal, points[chosen[1]].at - first);
  const auto beside = [&](std::size_t k) { return glm::dot(points[k].at - first, across); };
  chosen[2] = chosen[3] = chosen[0];
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (beside(k) > beside(chosen[2])) chosen[2] = k;
    if (beside(k) < beside(chosen[3])) chosen[3] = k;
  }
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t k = 0; k < 4; ++k)
    if (k == 0 || chosen[k] != chosen[k - 1]) meeting.point[meeting.count++] = points[chosen[k]];
}

// Where the outline of the resting piece lies over the face of the other.
void meet_face(const PosedPiece& first, const PosedPiece& second, const Axis& axis, double range,
               PieceMeeting& meeting) {
  const PosedPiece &flat = axis.of_second ? second : first, &other = axis.of_second ? first : second;
  const dvec3 outward = axis.of_second ? -axis.normal : axis.normal;
  Patch patch = leaning(other, -outward);
  const std::vector<std::uint8_t>& loop = axis.face->loop;
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const dvec3 &a = flat.corner[loop[k]], &b = flat.corner[loop[(k + 1) % loop.size()]];
    const dvec3 side = glm::cross(b - a, outward);
    const double length = glm::length(side);
    // A corner on the border stays, with rounding.
    if (length > 0.0 && patch.count > 1) clip(side / length, glm::dot(a, side) / length + kInPlane, patch);
  }
  const double offset = glm::dot(flat.corner[loop[0]], outward);
  std::array<MeetingPoint, Patch::kMost> found;
  std::size_t count = 0;
  for (int k = 0; k < patch.count; ++k) {
    const double apart = glm::dot(patch.point[k], outward) - offset;
    const double gap = apart - flat.piece->radius - other.piece->radius;
    if (gap > range) continue;
    found[count++] = {patch.point[k] - (other.piece->radius + 0.5 * gap) * outward, gap};
  }
  if (count <= PieceMeeting::kMost)
    std::copy_n(found.begin(), count, meeting.point.begin()), meeting.count = static_cast<int>(count);
  else
    thin_out(meeting, {found.data(), count});
}

// Where two edges lie side by side: the ends of what they have in common. Returns whether they do.
bool meet_edges(const PosedPiece& first, const PosedPiece& second, const dvec3& normal, double range,
                PieceMeeting& meeting) {
  const Patch a = leaning(first, normal), b = leaning(second, -normal);
  if (a.count != 2 || b.count != 2) return false;
  const dvec3 da = a.point[1] - a.point[0], db = b.point[1] - b.point[0];
  const double la = glm::length(da), lb = glm::length(db);
  if (!(la > 0.0 && lb > 0.0) || glm::length(glm::cross(da, db)) > kParallelSine * la * lb) return false;
  const dvec3 along = da / la;
  double from = 0.0, to = la;
  const double b0 = glm::dot(b.point[0] - a.point[0], along), b1 = glm::dot(b.point[1] - a.point[0], along);
  from = std::max(from, std::min(b0, b1)), to = std::min(to, std::max(b0, b1));
  if (!(to - from > kInPlane) || !(std::abs(b1 - b0) > 0.0)) return false;
  for (const double at : {from, to}) {
    const dvec3 on_a = a.point[0] + at * along, on_b = b.point[0] + (at - b0) / (b1 - b0) * db;
    const double gap = glm::dot(on_b - on_a, normal) - first.piece->radius - second.piece->radius;
    if (gap <= range) meeting.point[meeting.count++] = {on_a + (first.piece->radius + 0.5 * gap) * normal, gap};
  }
  return meeting.count > 0;
}

bool boxes_apart(const PosedPiece& a, const PosedPiece& b, double range) {
  for (int axis = 0; axis < 3; ++axis)
    if (a.low[axis] > b.high[axis] + range || b.low[axis] > a.high[axis] + range) return true;
  return false;
}

// One point, where the pieces are closest.
void meet_point(const PosedPiece& first, const dvec3& on_first, double gap, PieceMeeting& meeting) {
  meeting.point[0] = {on_first + (first.piece->radius + 0.5 * gap) * meeting.normal, gap};
  meeting.count = 1;
}

// Middle of the corners that are farthest along a direction.
dvec3 support_middle(const PosedPiece& posed, const dvec3& direction) {
  const double most = most_along(posed.corners(), direction);
  dvec3 sum(0.0);
  double count = 0.0;
  for (const dvec3& corner : posed.corners())
    if (glm::dot(corner, direction) >= most - kInPlane) sum += corner, count += 1.0;
  return sum / count;
}

double least_gap(const PieceMeeting& meeting) {
  double least = INFINITY;
  for (int k = 0; k < meeting.count; ++k) least = std::min(least, meeting.point[k].gap);
  return least;
}

}  // namespace

PieceMeeting meet(const PosedPiece& first, const PosedPiece& second, double range) {
  PieceMeeting meeting;
  if (boxes_apart(first, second, range)) return meeting;
  const double radii = first.piece->radius + second.piece->radius;
  const HullDistance closest = hull_distance(first.corners(), second.corners(), radii + range);
  if (closest.distance > radii + range) return meeting;
  const bool apart = closest.distance > kHullsMeet;
  const dvec3 along = apart ? glm::normalize(closest.on_second - closest.on_first) : dvec3(0.0);
  const Axis axis = apart ? rest_on_face(first, second, along) : least_overlap(first, second);
  meeting.normal = axis.normal;
  if (axis.face) meet_face(first, second, axis, range, meeting);
  if (apart && least_gap(meeting) > closest.distance - radii + kAsClose) meeting.normal = along, meeting.count = 0;
  if (meeting.count > 0 || meet_edges(first, second, meeting.normal, range, meeting)) return meeting;
  if (apart) {
    meet_point(first, closest.on_first, closest.distance - radii, meeting);
  } else {
    // The point of the second that is deepest; where edges cross, nearly the middle of both.
    const dvec3 middle = 0.5 * (support_middle(first, axis.normal) + support_middle(second, -axis.normal));
    const double gap = axis.apart - radii;
    meeting.point[0] = {middle, gap};
    meeting.count = 1;
  }
  return meeting;
}

}  // namespace trocar
