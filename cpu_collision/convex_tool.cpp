#include "cpu_collision/convex_tool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trocar {
namespace {

// Rounding of a plane distance in float, as a part of the coordinates that go into it.
constexpr float kPlaneRounding = 1e-6f;
// Added to the cosines of the 15-axis test: the cross product of nearly parallel edges is mostly rounding.
constexpr float kCosineRounding = 1e-6f;
// Rounding in double may put a corner outside a plane by up to this part of the largest plane offset. That is far below
// the borderline distance of 1 micrometre.
constexpr double kCornerRounding = 1e-11;
// Three planes with a smaller determinant share a line, not a corner, within the precision of their float coefficients.
constexpr double kFlattestCorner = 1e-9;
// Offset of an absent plane, m.
constexpr float kNoPlane = 1e30f;

// Each number of a plane is rounded by half of this part of itself; the other half is a margin.
constexpr double kFloatStep = std::numeric_limits<float>::epsilon();

// Returns the upper bound of |x| + |y| + |z| over all points within the radius of the sweep, m. None is farther from
// the pivot than the longer arm plus the radius.
double extent_of(const ToolStep& step) {
  const glm::dvec3 at = glm::abs(step.pivot);
  const double arm = std::max(glm::distance(step.pivot, step.tip_before), glm::distance(step.pivot, step.tip_after));
  return at.x + at.y + at.z + 2.0 * (arm + step.radius);
}

double distance(const glm::dvec4& plane, const glm::dvec3& point) {
  return glm::dot(glm::dvec3(plane), point) + plane.w;
}

// ---- preparation ----

void fill_lanes(const ToolVolume& volume, float largest_coordinate, ConvexTool& tool) {
  float largest = 0.f;
  for (int i = 0; i < volume.plane_count; ++i) largest = std::max(largest, std::abs(volume.planes[i].w));
  tool.slack = kPlaneRounding * (2.f * largest_coordinate + largest);
  tool.lanes.fill({lanes(0.f), lanes(0.f), lanes(0.f), lanes(kNoPlane)});
  for (int i = 0; i < volume.plane_count; ++i) {
    FourPlanes& group = tool.lanes[i / 4];
    group.x[i % 4] = volume.planes[i].x;
    group.y[i % 4] = volume.planes[i].y;
    group.z[i % 4] = volume.planes[i].z;
    group.offset[i % 4] = volume.planes[i].w + tool.slack;
  }
}

// Computes the intersection of three planes: Cramer's rule, then one correction of the residual. False when nearly
// singular.
bool meet(const glm::dvec4& a, const glm::dvec4& b, const glm::dvec4& c, glm::dvec3& point) {
  const glm::dvec3 na(a), nb(b), nc(c);
  const glm::dvec3 bc = glm::cross(nb, nc), ca = glm::cross(nc, na), ab = glm::cross(na, nb);
  const double determinant = glm::dot(na, bc);
  if (std::abs(determinant) < kFlattestCorner) return false;
  point = -(a.w * bc + b.w * ca + c.w * ab) / determinant;
  point -= (distance(a, point) * bc + distance(b, point) * ca + distance(c, point) * ab) / determinant;
  return true;
}

void add_corner(const glm::dvec3& point, double rounding, ConvexTool& tool) {
  for (int i = 0; i < tool.plane_count; ++i) {
    if (!(distance(tool.planes[i], point) >= -rounding)) return;
  }
  for (int i = 0; i < tool.corner_count; ++i) {
    const glm::dvec3 apart = glm::abs(tool.corners[i] - point);
    if (std::max({apart.x, apart.y, apart.z}) <= rounding) return;
  }
  tool.corners[tool.corner_count++] = point;
}

double corner_rounding(const ConvexTool& tool) {
  double largest = 0.0;
  for (int i = 0; i < tool.plane_count; ++i) largest = std::max(largest, std::abs(tool.planes[i].w));
  return kCornerRounding * largest + std::numeric_limits<double>::min();
}

void find_corners(ConvexTool& tool) {
  const double rounding = corner_rounding(tool);
  glm::dvec3 point;
  for (int i = 0; i < tool.plane_count; ++i) {
    for (int j = i + 1; j < tool.plane_count; ++j) {
      for (int k = j + 1; k < tool.plane_count; ++k) {
        if (meet(tool.planes[i], tool.planes[j], tool.planes[k], point)) add_corner(point, rounding, tool);
      }
    }
  }
}

// Two planes that share corners share an edge: its direction joins the two shared corners that are farthest apart.
void find_edges(ConvexTool& tool) {
  const double rounding = 2.0 * corner_rounding(tool);
  for (int i = 0; i < tool.plane_count; ++i) {
    for (int j = i + 1; j < tool.plane_count; ++j) {
      glm::dvec3 longest(0.0);
      const glm::dvec3* first = nullptr;
      for (int k = 0; k < tool.corner_count; ++k) {
        const glm::dvec3& corner = tool.corners[k];
        if (distance(tool.planes[i], corner) > rounding || distance(tool.planes[j], corner) > rounding) continue;
        if (!first) first = &corner;
        if (glm::dot(corner - *first, corner - *first) > glm::dot(longest, longest)) longest = corner - *first;
      }
      if (glm::dot(longest, longest) > 0.0) tool.edges[tool.edge_count++] = glm::normalize(longest);
    }
  }
}

struct Interval {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

Interval project(const ConvexTool& tool, const glm::dvec3& direction) {
  Interval interval;
  for (int i = 0; i < tool.corner_count; ++i) interval.add(glm::dot(tool.corners[i], direction));
  return interval;
}

// Computes the box with these axes around the corners. Returns its volume divided by 8, m^3.
double box_around_corners(const ConvexTool& tool, const std::array<glm::dvec3, 3>& axis, ObbNode& box) {
  glm::dvec3 half, centre(0.0);
  for (int k = 0; k < 3; ++k) {
    const Interval interval = project(tool, axis[k]);
    half[k] = 0.5 * (interval.high - interval.low);
    centre += 0.5 * (interval.high + interval.low) * axis[k];
  }
  box = with_axes(glm::vec3(axis[0]), glm::vec3(axis[1]), glm::vec3(axis[2]));
  box.extent = lanes(glm::vec3(half) + tool.slack);
  box.centre = lanes(glm::vec3(centre));
  return half.x * half.y * half.z;
}

// Finds the smallest box with one axis along a plane normal and another along an edge of that plane.
void find_box(ConvexTool& tool) {
  double smallest = box_around_corners(tool, {glm::dvec3(1, 0, 0), glm::dvec3(0, 1, 0), glm::dvec3(0, 0, 1)}, tool.box);
  for (int i = 0; i < tool.plane_count; ++i) {
    const glm::dvec3 n = glm::normalize(glm::dvec3(tool.planes[i]));
    for (int j = 0; j < tool.edge_count; ++j) {
      const double lean = glm::dot(n, tool.edges[j]);
      if (std::abs(lean) > 1e-6) continue;
      const glm::dvec3 u = glm::normalize(tool.edges[j] - lean * n);
      ObbNode box;
      const double volume = box_around_corners(tool, {n, u, glm::cross(n, u)}, box);
      if (!(volume < smallest)) continue;
      smallest = volume;
      tool.box = box;
    }
  }
}

// ---- boxes ----

// Returns the half projection of a box on the normals of four planes. x, y, z: the box's half sides by coordinate, one
// per lane.
Lanes4 half_projection(const FourPlanes& planes, Lanes4 x, Lanes4 y, Lanes4 z) {
  return abs(planes.x * splat<0>(x) + planes.y * splat<0>(y) + planes.z * splat<0>(z)) +
         abs(planes.x * splat<1>(x) + planes.y * splat<1>(y) + planes.z * splat<1>(z)) +
         abs(planes.x * splat<2>(x) + planes.y * splat<2>(y) + planes.z * splat<2>(z));
}

Lanes4 next(Lanes4 v) { return __builtin_shufflevector(v, v, 1, 2, 0, 3); }

// Data of the nine edge pairs: cosine[i] lane k = axis i of a . axis k of b, and their absolute values plus rounding.
struct Cosines {
  std::array<Lanes4, 3> signed_, size;
};

template <int i>
void cosines_of_axis(const ObbNode& a, const ObbNode& b, Cosines& cosines) {
  cosines.signed_[i] = splat<i>(a.axis_x) * b.axis_x + splat<i>(a.axis_y) * b.axis_y + splat<i>(a.axis_z) * b.axis_z;
  cosines.size[i] = abs(cosines.signed_[i]) + lanes(kCosineRounding);
}

// Tests the three axes (axis i of a) x (axis k of b), one per lane.
template <int i>
bool separated_by_edges(const Cosines& r, const ObbNode& a, const ObbNode& b, Lanes4 t) {
  constexpr int j = (i + 1) % 3, l = (i + 2) % 3;
  const Lanes4 between = abs(splat<l>(t) * r.signed_[j] - splat<j>(t) * r.signed_[l]);
  const Lanes4 of_a = splat<j>(a.extent) * r.size[l] + splat<l>(a.extent) * r.size[j];
  const Lanes4 of_b = next(b.extent) * next(next(r.size[i])) + next(next(b.extent)) * next(r.size[i]);
  return negative_lanes(of_a + of_b - between);
}

// ---- faces ----

using Corners = std::array<glm::dvec3, 3>;

bool separated_along(const ConvexTool& tool, const Corners& face, const glm::dvec3& direction) {
  const double a = glm::dot(face[0], direction), b = glm::dot(face[1], direction), c = glm::dot(face[2], direction);
  const Interval of_tool = project(tool, direction);
  return std::min({a, b, c}) > of_tool.high || std::max({a, b, c}) < of_tool.low;
}

}  // namespace

ConvexTool convex_tool(const ToolVolume& volume, float largest_coordinate, TouchSet set) {
  ConvexTool tool;
  tool.plane_count = volume.plane_count;
  const double extent = set == TouchSet::Exact ? extent_of(volume.step) : 0.0;
  for (int i = 0; i < volume.plane_count; ++i) {
    tool.planes[i] = glm::dvec4(volume.planes[i]);
    if (set == TouchSet::Exact) tool.planes[i].w += kFloatStep * (extent + std::abs(tool.planes[i].w));
  }
  fill_lanes(volume, largest_coordinate, tool);
  find_corners(tool);
  find_edges(tool);
  if (tool.corner_count > 0) find_box(tool);
  return tool;
}

bool boxes_overlap(const ObbNode& a, const ObbNode& b) {
  const Lanes4 t = dot_rows(a.axis_x, a.axis_y, a.axis_z, b.centre - a.centre);
  Cosines r;
  cosines_of_axis<0>(a, b, r);
  cosines_of_axis<1>(a, b, r);
  cosines_of_axis<2>(a, b, r);
  const Lanes4 of_b{sum(b.extent * r.size[0]), sum(b.extent * r.size[1]), sum(b.extent * r.size[2])};
  if (negative_lanes(a.extent + of_b - abs(t))) return false;
  const Lanes4 across = abs(splat<0>(t) * r.signed_[0] + splat<1>(t) * r.signed_[1] + splat<2>(t) * r.signed_[2]);
  const Lanes4 of_a = splat<0>(a.extent) * r.size[0] + splat<1>(a.extent) * r.size[1] + splat<2>(a.extent) * r.size[2];
  if (negative_lanes(b.extent + of_a - across)) return false;
  return !separated_by_edges<0>(r, a, b, t) && !separated_by_edges<1>(r, a, b, t) && !separated_by_edges<2>(r, a, b, t);
}

BoxAnswer box_meets(const ConvexTool& tool, const ObbNode& box) {
  if (tool.corner_count == 0) return BoxAnswer::Outside;
  const Lanes4 x = box.axis_x * box.extent, y = box.axis_y * box.extent, z = box.axis_z * box.extent;
  const Lanes4 middle = plane_distances(tool.lanes[0], box.centre), half = half_projection(tool.lanes[0], x, y, z);
  if (negative_lanes(middle + half)) return BoxAnswer::Outside;
  const Lanes4 middle2 = plane_distances(tool.lanes[1], box.centre), half2 = half_projection(tool.lanes[1], x, y, z);
  if (negative_lanes(middle2 + half2)) return BoxAnswer::Outside;
  const Lanes4 twice = lanes(2.f * tool.slack);
  if (!negative_lanes(min(middle - half, middle2 - half2) - twice)) return BoxAnswer::Inside;
  return boxes_overlap(tool.box, box) ? BoxAnswer::Crosses : BoxAnswer::Outside;
}

FaceAnswer face_quick(const ConvexTool& tool, Lanes4 a, Lanes4 b, Lanes4 c) {
  const Lanes4 a0 = plane_distances(tool.lanes[0], a), b0 = plane_distances(tool.lanes[0], b),
               c0 = plane_distances(tool.lanes[0], c);
  if (negative_lanes(max(max(a0, b0), c0))) return FaceAnswer::Out;
  const Lanes4 a1 = plane_distances(tool.lanes[1], a), b1 = plane_distances(tool.lanes[1], b),
               c1 = plane_distances(tool.lanes[1], c);
  if (negative_lanes(max(max(a1, b1), c1))) return FaceAnswer::Out;
  const Lanes4 twice = lanes(2.f * tool.slack);
  const bool inside = !negative_lanes(min(a0, a1) - twice) || !negative_lanes(min(b0, b1) - twice) ||
                      !negative_lanes(min(c0, c1) - twice);
  return inside ? FaceAnswer::In : FaceAnswer::Unclear;
}

bool face_meets(const ConvexTool& tool, const Triangle& face) {
  if (tool.corner_count == 0) return false;
  const Corners corners{face.a, face.b, face.c};
  std::array<bool, 3> inside{true, true, true};
  for (int i = 0; i < tool.plane_count; ++i) {
    int beyond = 0;
    for (int k = 0; k < 3; ++k) {
      if (distance(tool.planes[i], corners[k]) >= 0.0) continue;
      inside[k] = false;
      ++beyond;
    }
    if (beyond == 3) return false;
  }
  if (inside[0] || inside[1] || inside[2]) return true;
  const Corners sides{face.b - face.a, face.c - face.b, face.a - face.c};
  const glm::dvec3 normal = glm::cross(sides[0], sides[1]);
  if (separated_along(tool, corners, normal)) return false;
  for (const glm::dvec3& side : sides) {
    // For a volume as flat as the face, axes within the face's own plane are needed too.
    if (separated_along(tool, corners, glm::cross(side, normal))) return false;
    for (int i = 0; i < tool.edge_count; ++i) {
      if (separated_along(tool, corners, glm::cross(side, tool.edges[i]))) return false;
    }
  }
  return true;
}

}  // namespace trocar
