#include "cpu_collision/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trocar {
namespace {

// ---- set Volume: the margin of a face is the value of the matrix game "plane distances x corners" ----

// distance[i][j]: signed distance of corner j from plane i, m. Linear in between: a point of the face is a convex
// combination of corners.
struct PlaneDistances {
  std::array<glm::dvec3, kMaxPlanes> distance;
  int count;
};

PlaneDistances plane_distances(const ToolVolume& tool, const Triangle& face) {
  PlaneDistances result{{}, tool.plane_count};
  for (int i = 0; i < tool.plane_count; ++i) {
    const glm::dvec3 n(tool.planes[i]);
    const double d = tool.planes[i].w;
    result.distance[i] = {glm::dot(n, face.a) + d, glm::dot(n, face.b) + d, glm::dot(n, face.c) + d};
  }
  return result;
}

// Returns the smallest plane distance at the point of the face with these barycentric weights.
double margin_at(const PlaneDistances& planes, const glm::dvec3& weights) {
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < planes.count; ++i) smallest = std::min(smallest, glm::dot(planes.distance[i], weights));
  return smallest;
}

// The best point lies at a corner, on an edge where two plane distances are equal, or inside where three are. Every
// candidate is a point of the face, so none overestimates the margin.
double best_on_edges(const PlaneDistances& planes) {
  double best = -std::numeric_limits<double>::infinity();
  for (int from = 0; from < 3; ++from) {
    const int to = (from + 1) % 3;
    glm::dvec3 corner(0.0);
    corner[from] = 1.0;
    best = std::max(best, margin_at(planes, corner));
    for (int i = 0; i < planes.count; ++i) {
      for (int j = i + 1; j < planes.count; ++j) {
        const glm::dvec3 difference = planes.distance[i] - planes.distance[j];
        const double t = difference[from] / (difference[from] - difference[to]);
        if (!(t > 0.0 && t < 1.0)) continue;  // also when parallel: t is then infinite or NaN
        glm::dvec3 weights(0.0);
        weights[from] = 1.0 - t;
        weights[to] = t;
        best = std::max(best, margin_at(planes, weights));
      }
    }
  }
  return best;
}

double best_inside(const PlaneDistances& planes) {
  double best = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < planes.count; ++i) {
    for (int j = i + 1; j < planes.count; ++j) {
      for (int k = j + 1; k < planes.count; ++k) {
        // Weights orthogonal to both differences make the three distances equal.
        const glm::dvec3 weights =
            glm::cross(planes.distance[i] - planes.distance[j], planes.distance[i] - planes.distance[k]);
        const double sum = weights.x + weights.y + weights.z;
        const glm::dvec3 normalised = weights / sum;
        if (!(normalised.x >= 0.0 && normalised.y >= 0.0 && normalised.z >= 0.0)) continue;
        best = std::max(best, margin_at(planes, normalised));
      }
    }
  }
  return best;
}

double margin_of(const PlaneDistances& planes) { return std::max(best_on_edges(planes), best_inside(planes)); }

enum class Quick { Out, In, Unclear };

// A face is out when all its corners lie beyond one plane by more than kBorderlineBand. It is in when one corner lies
// inside all planes by more than that. Other faces need the full test.
Quick quick_volume_answer(const PlaneDistances& planes) {
  glm::dvec3 corner_margin(std::numeric_limits<double>::infinity());
  for (int i = 0; i < planes.count; ++i) {
    const glm::dvec3& d = planes.distance[i];
    if (std::max({d.x, d.y, d.z}) < -kBorderlineBand) return Quick::Out;
    corner_margin = glm::min(corner_margin, d);
  }
  if (std::max({corner_margin.x, corner_margin.y, corner_margin.z}) > kBorderlineBand) return Quick::In;
  return Quick::Unclear;
}

// ---- set Exact: the distance of two convex bodies is the widest gap between their projections ----

using Corners = std::array<glm::dvec3, 3>;

struct Shadow {
  double low, high;
};

Shadow project(const Corners& corners, const glm::dvec3& direction) {
  const double a = glm::dot(corners[0], direction), b = glm::dot(corners[1], direction),
               c = glm::dot(corners[2], direction);
  return {std::min({a, b, c}), std::max({a, b, c})};
}

// Returns the gap between the projections along a nonzero direction; it is never more than the distance of the bodies.
double gap_along(const Corners& first, const Corners& second, const glm::dvec3& direction) {
  const double length = glm::length(direction);
  if (!(length > 0.0)) return -std::numeric_limits<double>::infinity();
  const glm::dvec3 unit = direction / length;
  const Shadow f = project(first, unit), s = project(second, unit);
  return std::max(f.low - s.high, s.low - f.high);
}

glm::dvec3 edge(const Corners& corners, int k) { return corners[(k + 1) % 3] - corners[k]; }

glm::dvec3 normal(const Corners& corners) { return glm::cross(edge(corners, 0), edge(corners, 1)); }

// Returns the vector from the line start + t * along to a point, perpendicular to the line; 0 when `along` is 0.
glm::dvec3 perpendicular(const glm::dvec3& point, const glm::dvec3& start, const glm::dvec3& along) {
  const double squared = glm::dot(along, along);
  if (!(squared > 0.0)) return glm::dvec3(0.0);
  const glm::dvec3 offset = point - start;
  return offset - along * (glm::dot(offset, along) / squared);
}

// Returns the widest gap between the two triangles over all directions that can be widest: the normals, and the
// directions from pairs of edges, a corner and an edge, or two corners.
double widest_gap(const Corners& first, const Corners& second) {
  double best = std::max(gap_along(first, second, normal(first)), gap_along(first, second, normal(second)));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const glm::dvec3 along_first = edge(first, i), along_second = edge(second, j);
      best = std::max(best, gap_along(first, second, glm::cross(along_first, along_second)));
      best = std::max(best, gap_along(first, second, perpendicular(first[i], second[j], along_second)));
      best = std::max(best, gap_along(first, second, perpendicular(second[j], first[i], along_first)));
      best = std::max(best, gap_along(first, second, first[i] - second[j]));
    }
  }
  return best;
}

Corners corners_from(const Triangle& face, const glm::dvec3& origin) {
  return {face.a - origin, face.b - origin, face.c - origin};
}

// A direction and the sweep's projection interval along it, grown by the radius and twice the band: a face outside is
// certainly too far.
struct Slab {
  glm::dvec3 direction;
  double low, high;
};

struct Slabs {
  std::array<Slab, 7> slab;
  int count = 0;
};

// Makes the slabs: first along the world axes (the cheapest), then along the normal of the sweep and the in-plane
// normals of its sides.
Slabs slabs_around(const Triangle& sweep, double margin) {
  const Corners corners{sweep.a, sweep.b, sweep.c};
  const glm::dvec3 n = normal(corners);
  const std::array<glm::dvec3, 7> directions{glm::dvec3(1, 0, 0),
                                             glm::dvec3(0, 1, 0),
                                             glm::dvec3(0, 0, 1),
                                             n,
                                             glm::cross(edge(corners, 0), n),
                                             glm::cross(edge(corners, 1), n),
                                             glm::cross(edge(corners, 2), n)};
  Slabs slabs;
  for (const glm::dvec3& direction : directions) {
    const double length = glm::length(direction);
    if (!(length > 0.0)) continue;
    const glm::dvec3 unit = direction / length;
    const Shadow covered = project(corners, unit);
    slabs.slab[slabs.count++] = {unit, covered.low - margin, covered.high + margin};
  }
  return slabs;
}

bool outside_a_slab(const Slabs& slabs, const Corners& face) {
  for (int i = 0; i < slabs.count; ++i) {
    const Shadow s = project(face, slabs.slab[i].direction);
    if (s.low > slabs.slab[i].high || s.high < slabs.slab[i].low) return true;
  }
  return false;
}

void note(ReferenceAnswer& answer, std::size_t face, double inside_by) {
  if (inside_by >= 0.0) answer.touched.push_back(FaceId(face));
  if (std::abs(inside_by) <= kBorderlineBand) answer.borderline.push_back(FaceId(face));
}

ReferenceAnswer volume_answer(const MeshView& mesh, const ToolVolume& tool) {
  ReferenceAnswer answer;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    const PlaneDistances planes = plane_distances(tool, triangle_of(mesh.positions, mesh.faces[f]));
    switch (quick_volume_answer(planes)) {
      case Quick::Out:
        break;
      case Quick::In:
        answer.touched.push_back(FaceId(f));
        break;
      case Quick::Unclear:
        note(answer, f, margin_of(planes));
        break;
    }
  }
  return answer;
}

ReferenceAnswer exact_answer(const MeshView& mesh, const ToolStep& step) {
  ReferenceAnswer answer;
  const Triangle sweep{step.pivot, step.tip_before, step.tip_after};
  const Slabs slabs = slabs_around(sweep, step.radius + 2.0 * kBorderlineBand);
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    const Triangle face = triangle_of(mesh.positions, mesh.faces[f]);
    if (outside_a_slab(slabs, {face.a, face.b, face.c})) continue;
    note(answer, f, step.radius - reference_distance(face, sweep));
  }
  return answer;
}

ReferenceAnswer part_answer(const MeshView& mesh, const MovingPart& part) {
  ReferenceAnswer answer;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    note(answer, f, -reference_part_gap(part, triangle_of(mesh.positions, mesh.faces[f])));
  return answer;
}

}  // namespace

double reference_margin(const ToolVolume& tool, const Triangle& face) { return margin_of(plane_distances(tool, face)); }

double reference_distance(const Triangle& first, const Triangle& second) {
  return std::max(0.0, widest_gap(corners_from(first, second.a), corners_from(second, second.a)));
}

ReferenceAnswer reference_touched(const MeshView& mesh, const ToolVolume& tool, TouchSet set) {
  if (set == TouchSet::Volume) return volume_answer(mesh, tool);
  return tool.step.part.shape ? part_answer(mesh, tool.step.part) : exact_answer(mesh, tool.step);
}

Agreement compare_with_reference(const ReferenceAnswer& reference, std::span<const Touch> touches) {
  Agreement agreement;
  const auto differs = [&](FaceId face) {
    const bool borderline = std::binary_search(reference.borderline.begin(), reference.borderline.end(), face);
    ++(borderline ? agreement.borderline : agreement.disagreements);
  };
  auto expected = reference.touched.begin();
  for (std::size_t k = 0; k < touches.size(); ++k) {
    const FaceId face = touches[k].face;
    if (k > 0 && face <= touches[k - 1].face) {
      ++agreement.disagreements;
      continue;
    }
    for (; expected != reference.touched.end() && *expected < face; ++expected) differs(*expected);
    if (expected != reference.touched.end() && *expected == face) {
      ++agreement.in_both;
      ++expected;
    } else {
      differs(face);
    }
  }
  for (; expected != reference.touched.end(); ++expected) differs(*expected);
  return agreement;
}

namespace {

using glm::dvec3;

// Bisection ends when the part moves less than this in half an interval.
constexpr double kEnoughMotion = 0.25 * kBorderlineBand;
// Halves that may wait at the same time: one for each bisection of the interval.
constexpr int kMostHalves = 64;

Triangle posed(const PartShape& shape, const RigidFrame& pose, const glm::uvec3& face) {
  return {pose.to_world(shape.corners[face.x]), pose.to_world(shape.corners[face.y]),
          pose.to_world(shape.corners[face.z])};
}

// A point is inside a convex polyhedron when it lies behind every face. A flat polytope has no inside.
bool inside(const PartShape& shape, const RigidFrame& pose, const dvec3& point) {
  double thickest = 0.0;
  for (const glm::uvec3& face : shape.faces) {
    const Triangle t = posed(shape, pose, face);
    const dvec3 n = glm::cross(t.b - t.a, t.c - t.a);
    const double height = glm::dot(n, point - t.a);
    if (height > 0.0) return false;
    thickest = std::max(thickest, -height);
  }
  return thickest > 0.0;
}

double ball_gap(const PartShape& shape, const RigidFrame& pose, const Triangle& face) {
  const dvec3 centre = pose.to_world(shape.corners[0]);
  double reach = 0.0;
  for (const dvec3& corner : shape.corners) reach = std::max(reach, glm::distance(corner, shape.corners[0]));
  return reference_distance(face, {centre, centre, centre}) - reach;
}

}  // namespace

double reference_part_distance(const PartShape& shape, const RigidFrame& pose, const Triangle& face) {
  if (inside(shape, pose, face.a)) return 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (const glm::uvec3& side : shape.faces)
    least = std::min(least, reference_distance(posed(shape, pose, side), face));
  return least;
}

double reference_part_gap(const MovingPart& part, const Triangle& face) {
  const PartShape& shape = *part.shape;
  const double speed = motion_bounds(*part.motion, shape).speed;
  double best = std::numeric_limits<double>::infinity();
  std::array<std::array<double, 2>, kMostHalves> open;
  int count = 0;
  open[count++] = {part.from, part.to};
  while (count > 0) {
    const auto [from, to] = open[--count];
    const double middle = 0.5 * (from + to), moved = 0.5 * (to - from) * speed;
    const RigidFrame pose = frame_at(*part.motion, shape, middle);
    const double coarse = ball_gap(shape, pose, face) - shape.radius;
    if (coarse - moved > kBorderlineBand) {
      best = std::min(best, coarse);
      continue;
    }
    const double gap = reference_part_distance(shape, pose, face) - shape.radius;
    best = std::min(best, gap);
    if (best < -kBorderlineBand) return best;
    if (gap - moved > kBorderlineBand || moved < kEnoughMotion || count + 2 > kMostHalves) continue;
    open[count++] = {middle, to};
    open[count++] = {from, middle};
  }
  return best;
}

}  // namespace trocar
