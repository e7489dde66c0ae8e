#include "cpu_collision/trees/motion_crossing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "mesh/exact_sign.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Boxes tested before the earliest remaining box counts as a meeting.
constexpr int kMostBoxes = 20000;
// Limit of the boxes waiting on the heap.
constexpr int kMostOpen = 1024;
// Rounding of a gap, as a part of the largest coordinate.
constexpr double kGapRounding = 1.6e-14;

// From one feature to the other: base + u along_u + v along_v, each linear in time. [0] at time 0, [1] at time 1.
struct Gap {
  std::array<dvec3, 2> base, along_u, along_v;  // m
  double rounding;                              // m
};

// Bounds of time, u and v. Left uninitialised: the heap holds many.
struct Box {
  std::array<double, 3> low, high;
  double apart;  // m  bound on the gap at its earliest corner
};
constexpr Box kWholeDomain{{0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}, 0.0};

dvec3 at(const std::array<dvec3, 2>& moving, double time) { return moving[0] + time * (moving[1] - moving[0]); }

using Values = std::array<dvec3, 8>;  // bits of the index: 0 high time, 1 high u, 2 high v

Values values_at_corners(const Gap& gap, const Box& box) {
  Values values;
  for (int late = 0; late < 2; ++late) {
    const double time = late ? box.high[0] : box.low[0];
    const dvec3 base = at(gap.base, time), u = at(gap.along_u, time), v = at(gap.along_v, time);
    const dvec3 low = base + box.low[1] * u, high = base + box.high[1] * u;
    values[late] = low + box.low[2] * v;
    values[late | 2] = high + box.low[2] * v;
    values[late | 4] = low + box.high[2] * v;
    values[late | 6] = high + box.high[2] * v;
  }
  return values;
}

// The gap is linear in each parameter, so its values over a box lie in the convex hull of the corner values.
bool apart_along(const Values& values, const dvec3& direction, double rounding) {
  double low = glm::dot(values[0], direction), high = low;
  for (int k = 1; k < 8; ++k) {
    const double projected = glm::dot(values[k], direction);
    low = std::min(low, projected), high = std::max(high, projected);
  }
  const double slack = rounding * (std::abs(direction.x) + std::abs(direction.y) + std::abs(direction.z));
  return low > slack || high < -slack;
}

// Tests the coordinate axes, the mean of the values, and directions perpendicular to one or both features: u or v has
// no effect along these, so that boxes need not be small in u and v.
bool holds_no_zero(const Gap& gap, const Box& box, const Values& values) {
  dvec3 low = values[0], high = values[0], sum = values[0];
  for (int k = 1; k < 8; ++k) {
    low = glm::min(low, values[k]), high = glm::max(high, values[k]);
    sum += values[k];
  }
  if (glm::any(glm::greaterThan(low, dvec3(gap.rounding))) || glm::any(glm::lessThan(high, dvec3(-gap.rounding))))
    return true;
  const double middle = 0.5 * (box.low[0] + box.high[0]);
  const dvec3 u = at(gap.along_u, middle), v = at(gap.along_v, middle), normal = glm::cross(u, v);
  return apart_along(values, normal, gap.rounding) || apart_along(values, sum, gap.rounding) ||
         apart_along(values, glm::cross(normal, u), gap.rounding) ||
         apart_along(values, glm::cross(normal, v), gap.rounding);
}

// Returns the upper bound of the gap's change with each parameter, in its largest coordinate, m.
std::array<double, 3> changes_over(const Values& values) {
  std::array<double, 3> change{0.0, 0.0, 0.0};
  for (int k = 0; k < 3; ++k) {
    for (int corner = 0; corner < 8; ++corner) {
      if (corner & (1 << k)) continue;
      const dvec3 step = glm::abs(values[corner] - values[corner | (1 << k)]);
      change[k] = std::max({change[k], step.x, step.y, step.z});
    }
  }
  return change;
}

// Orders boxes so that the earliest comes first; among equally early boxes the smallest.
bool comes_after(const Box& a, const Box& b) { return a.low[0] != b.low[0] ? a.low[0] > b.low[0] : a.apart > b.apart; }

// Searches the earliest meeting; ignores meetings at `before` and later. `within` decides whether any point of a box is
// in the domain.
template <class Within>
std::optional<Meeting> first_zero(const Gap& gap, Within within, double tolerance, double before) {
  std::array<Box, kMostOpen> open;
  int count = 0;
  const auto keep = [&](Box box) {
    if (!within(box) || !(box.low[0] < before)) return;
    const Values values = values_at_corners(gap, box);
    if (holds_no_zero(gap, box, values)) return;
    // Zero lies between the values in each coordinate: none of them is larger than their spread.
    const std::array<double, 3> change = changes_over(values);
    box.apart = std::sqrt(3.0) * (change[0] + change[1] + change[2] + gap.rounding);
    open[count++] = box;
    std::push_heap(open.begin(), open.begin() + count, comes_after);
  };
  keep(kWholeDomain);
  for (int seen = 0; count > 0; ++seen) {
    std::pop_heap(open.begin(), open.begin() + count, comes_after);
    const Box box = open[--count];
    const std::array<double, 3> change = changes_over(values_at_corners(gap, box));
    const auto widest = static_cast<std::size_t>(std::max_element(change.begin(), change.end()) - change.begin());
    const double middle = 0.5 * (box.low[widest] + box.high[widest]);
    const bool small = box.apart <= tolerance || !(middle > box.low[widest] && middle < box.high[widest]);
    if (small || seen >= kMostBoxes || count + 2 > kMostOpen)
      return Meeting{box.low[0], std::max(box.apart, tolerance)};
    Box halves[] = {box, box};
    halves[0].high[widest] = halves[1].low[widest] = middle;
    for (const Box& half : halves) keep(half);
  }
  return {};
}

double largest_of(std::initializer_list<MovingPoint> points) {
  double largest = 0.0;
  for (const MovingPoint& p : points)
    for (const dvec3& position : {p.before, p.after})
      largest = std::max({largest, std::abs(position.x), std::abs(position.y), std::abs(position.z)});
  return largest;
}

std::array<dvec3, 2> between(const MovingPoint& from, const MovingPoint& to) {
  return {to.before - from.before, to.after - from.after};
}

// Later than any time of a step.
constexpr double kNoTime = 2.0;

struct CornerFace {
  Gap gap;

  CornerFace(const MovingPoint& corner, const MovingPoint& a, const MovingPoint& b, const MovingPoint& c)
      : gap{between(corner, a), between(a, b), between(a, c), kGapRounding * largest_of({corner, a, b, c})} {}
  static bool holds_any(const Box& box) { return box.low[1] + box.low[2] <= 1.0; }
  static dvec3 middle() { return {0.5, 1.0 / 3.0, 1.0 / 3.0}; }
};

struct EdgeEdge {
  Gap gap;

  EdgeEdge(const MovingPoint& a, const MovingPoint& b, const MovingPoint& c, const MovingPoint& d)
      : gap{between(c, a), between(a, b), between(d, c), kGapRounding * largest_of({a, b, c, d})} {}
  static bool holds_any(const Box&) { return true; }
  static dvec3 middle() { return dvec3(0.5); }
};

template <class Features>
std::optional<Meeting> first_meeting(const Features& features, double tolerance, double before) {
  return first_zero(features.gap, Features::holds_any, tolerance, before);
}

// Tries Newton's method from the middle of the domain. Returns true if it converges, to rounding, to a zero in the
// domain. This finds most meetings.
constexpr int kNewtonSteps = 8;
template <class Features>
bool finds_a_zero(const Features& features) {
  const Gap& gap = features.gap;
  dvec3 x = Features::middle();  // time, u, v
  for (int step = 0; step < kNewtonSteps; ++step) {
    const dvec3 u = at(gap.along_u, x[0]), v = at(gap.along_v, x[0]);
    const dvec3 value = at(gap.base, x[0]) + x[1] * u + x[2] * v;
    const Box point{{x[0], x[1], x[2]}, {x[0], x[1], x[2]}, 0.0};
    const bool inside = glm::all(glm::greaterThanEqual(x, dvec3(0.0))) && glm::all(glm::lessThanEqual(x, dvec3(1.0)));
    if (glm::all(glm::lessThanEqual(glm::abs(value), dvec3(gap.rounding)))) return inside && Features::holds_any(point);
    const dvec3 rate =
        gap.base[1] - gap.base[0] + x[1] * (gap.along_u[1] - gap.along_u[0]) + x[2] * (gap.along_v[1] - gap.along_v[0]);
    const dvec3 uv = glm::cross(u, v);
    const double determinant = glm::dot(rate, uv);
    x -= dvec3(glm::dot(value, uv), glm::dot(rate, glm::cross(value, v)), glm::dot(rate, glm::cross(u, value))) /
         determinant;
    if (!glm::all(glm::lessThan(glm::abs(x), dvec3(4.0)))) return false;
  }
  return false;
}

using MovingCorners = std::array<MovingPoint, 3>;

MovingCorners corners_of(const MovingTriangle& t) {
  return {MovingPoint{t.before.a, t.after.a}, {t.before.b, t.after.b}, {t.before.c, t.after.c}};
}

struct Extent {
  double low = std::numeric_limits<double>::max(), high = -low;
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
};

// Points that are separated along a direction at both ends of the step are separated throughout: their projections on
// it are linear in time. Allows for rounding as for gaps.
bool apart_throughout(const MovingCorners& p, const MovingCorners& q, const dvec3& direction, double rounding) {
  Extent p_before, p_after, q_before, q_after;
  for (int k = 0; k < 3; ++k) {
    p_before.add(glm::dot(p[k].before, direction)), p_after.add(glm::dot(p[k].after, direction));
    q_before.add(glm::dot(q[k].before, direction)), q_after.add(glm::dot(q[k].after, direction));
  }
  const double slack = rounding * (std::abs(direction.x) + std::abs(direction.y) + std::abs(direction.z));
  return (p_before.low - q_before.high > slack && p_after.low - q_after.high > slack) ||
         (q_before.low - p_before.high > slack && q_after.low - p_after.high > slack);
}

dvec3 halfway(const MovingPoint& p) { return 0.5 * (p.before + p.after); }

// Tests the coordinate axes, the line between the centres, the normals, the pairs of edges and, for nearly coplanar
// triangles, the in-plane edge normals; all at the middle of the step.
bool apart_at_once(const MovingCorners& p, const MovingCorners& q, double rounding) {
  const auto apart = [&](const dvec3& direction) { return apart_throughout(p, q, direction, rounding); };
  std::array<dvec3, 3> edge_p, edge_q;
  dvec3 middles(0.0);
  for (int k = 0; k < 3; ++k) {
    edge_p[k] = halfway(p[(k + 1) % 3]) - halfway(p[k]);
    edge_q[k] = halfway(q[(k + 1) % 3]) - halfway(q[k]);
    middles += halfway(q[k]) - halfway(p[k]);
  }
  const dvec3 normal_p = glm::cross(edge_p[0], edge_p[1]), normal_q = glm::cross(edge_q[0], edge_q[1]);
  if (apart(middles) || apart(normal_p) || apart(normal_q)) return true;
  for (int axis = 0; axis < 3; ++axis) {
    dvec3 along(0.0);
    along[axis] = 1.0;
    if (apart(along)) return true;
  }
  for (int k = 0; k < 3; ++k)
    if (apart(glm::cross(edge_p[k], normal_p)) || apart(glm::cross(edge_q[k], normal_q))) return true;
  for (const dvec3& e : edge_p)
    for (const dvec3& f : edge_q)
      if (apart(glm::cross(e, f))) return true;
  return false;
}

MovingPoint part_of(const MovingPoint& p, double from, double to) {
  const dvec3 motion = p.after - p.before;
  return {p.before + from * motion, p.before + to * motion};
}

// Separated throughout the step, or throughout each half of it, recursively: a direction may separate only early or
// late.
constexpr int kHalvings = 6;
bool surely_apart(const MovingCorners& p, const MovingCorners& q, double rounding, int halvings = kHalvings) {
  if (apart_at_once(p, q, rounding)) return true;
  if (halvings == 0) return false;
  for (const double from : {0.0, 0.5}) {
    MovingCorners part_p, part_q;
    for (int k = 0; k < 3; ++k) {
      part_p[k] = part_of(p[k], from, from + 0.5);
      part_q[k] = part_of(q[k], from, from + 0.5);
    }
    if (!surely_apart(part_p, part_q, rounding, halvings - 1)) return false;
  }
  return true;
}

// Calls visit(features) for all pairs of features until one returns true.
template <class Visit>
bool any_features(const MovingCorners& p, const MovingCorners& q, Visit visit) {
  for (int k = 0; k < 3; ++k) {
    if (visit(CornerFace(p[k], q[0], q[1], q[2])) || visit(CornerFace(q[k], p[0], p[1], p[2]))) return true;
    for (int l = 0; l < 3; ++l)
      if (visit(EdgeEdge(p[k], p[(k + 1) % 3], q[l], q[(l + 1) % 3]))) return true;
  }
  return false;
}

double rounding_of(const MovingCorners& p, const MovingCorners& q) {
  return kGapRounding * std::max(largest_of({p[0], p[1], p[2]}), largest_of({q[0], q[1], q[2]}));
}

}  // namespace

std::optional<Meeting> corner_meets_face(const MovingPoint& corner, const MovingPoint& a, const MovingPoint& b,
                                         const MovingPoint& c, double tolerance) {
  return first_meeting(CornerFace(corner, a, b, c), tolerance, kNoTime);
}

std::optional<Meeting> edge_meets_edge(const MovingPoint& a, const MovingPoint& b, const MovingPoint& c,
                                       const MovingPoint& d, double tolerance) {
  return first_meeting(EdgeEdge(a, b, c, d), tolerance, kNoTime);
}

std::optional<Meeting> triangles_meet(const MovingTriangle& first, const MovingTriangle& second, double tolerance) {
  const MovingCorners p = corners_of(first), q = corners_of(second);
  if (surely_apart(p, q, rounding_of(p, q))) return {};
  std::optional<Meeting> earliest;
  any_features(p, q, [&](const auto& features) {
    const auto found = first_meeting(features, tolerance, earliest ? earliest->time : kNoTime);
    if (found) earliest = found;
    return false;
  });
  return earliest;
}

bool one_direction_separates(const MovingTriangle& first, const MovingTriangle& second) {
  const MovingCorners p = corners_of(first), q = corners_of(second);
  return apart_at_once(p, q, rounding_of(p, q));
}

bool newton_finds_a_meeting(const MovingTriangle& first, const MovingTriangle& second) {
  return any_features(corners_of(first), corners_of(second),
                      [](const auto& features) { return finds_a_zero(features); });
}

bool triangles_meet_at_all(const MovingTriangle& first, const MovingTriangle& second, double tolerance) {
  if (one_direction_separates(first, second)) return false;
  if (newton_finds_a_meeting(first, second)) return true;
  const MovingCorners p = corners_of(first), q = corners_of(second);
  return !surely_apart(p, q, rounding_of(p, q)) && any_features(p, q, [&](const auto& features) {
    return first_meeting(features, tolerance, kNoTime).has_value();
  });
}

namespace {

// The boxes of the faces' motions, each as a face whose corners are opposite corners of the box, for a tree of boxes.
class SweptBoxes {
 public:
  void add(const MovingMesh& mesh) {
    for (const glm::uvec3& face : mesh.faces) {
      glm::vec3 low(mesh.before[face.x]), high(low);
      for (int corner = 0; corner < 3; ++corner)
        for (const glm::vec3& p : {mesh.before[face[corner]], mesh.after[face[corner]]}) {
          low = glm::min(low, p);
          high = glm::max(high, p);
        }
      const auto first = static_cast<std::uint32_t>(boxes_.positions.size());
      boxes_.positions.push_back(low);
      boxes_.positions.push_back(high);
      boxes_.faces.push_back({first, first + 1, first});
    }
  }
  MeshView view() const { return boxes_.view(); }

 private:
  TriangleMesh boxes_;
};

MovingTriangle motion_of(const MovingMesh& mesh, std::uint32_t face) {
  return {triangle_of(mesh.before, mesh.faces[face]), triangle_of(mesh.after, mesh.faces[face])};
}

bool cross_at_the_start(const MovingMesh& first, std::uint32_t f, const MovingMesh& second, std::uint32_t g) {
  glm::vec3 a[3], b[3];
  for (int corner = 0; corner < 3; ++corner) {
    a[corner] = first.before[first.faces[f][corner]];
    b[corner] = second.before[second.faces[g][corner]];
  }
  return solids::faces_cross_exactly(a, b);
}

}  // namespace

std::vector<FaceMeeting> meshes_meet(const MovingMesh& first, const MovingMesh& second, double tolerance) {
  std::vector<FaceMeeting> meetings;
  if (first.faces.empty() || second.faces.empty()) return meetings;
  SweptBoxes boxes;
  boxes.add(first);
  boxes.add(second);
  const FaceTree tree = build_face_tree(boxes.view());
  const auto own = static_cast<std::uint32_t>(first.faces.size());
  for_each_overlapping_pair(tree, [&](std::uint32_t f, std::uint32_t box) {
    if (f >= own || box < own) return;
    const std::uint32_t g = box - own;
    if (cross_at_the_start(first, f, second, g)) {
      meetings.push_back({FaceId(f), FaceId(g), 0.0, 0.0});
    } else if (const auto meeting = triangles_meet(motion_of(first, f), motion_of(second, g), tolerance)) {
      meetings.push_back({FaceId(f), FaceId(g), meeting->time, meeting->apart});
    }
  });
  std::sort(meetings.begin(), meetings.end(), [](const FaceMeeting& a, const FaceMeeting& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  return meetings;
}

std::optional<FaceMeeting> first_contact(std::span<const FaceMeeting> meetings) {
  const auto earliest = std::min_element(meetings.begin(), meetings.end(),
                                         [](const FaceMeeting& a, const FaceMeeting& b) { return a.time < b.time; });
  return earliest == meetings.end() ? std::nullopt : std::optional(*earliest);
}

}  // namespace trocar
