// Defines the sphere as the volume of a tree, centred on the box of the faces below.   Source: Bergeret 2000, section
// 4.5.5, whose spheres enclose octants; ours enclose the faces themselves, so that they follow a deforming organ.
// Units: metres.   Tested in tests/study/trees_test.cpp
#pragma once

#include <array>

#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/obb.hpp"

namespace trocar {

struct Sphere {
  Lanes4 centre;     // m  x, y, z, 0
  float radius;      // m
  Lanes4 low, high;  // m  box of the faces below: only the fit of the parent reads it

  template <class Points, class Kids>
  static void fit(Sphere& node, const Points& points, const Kids& children, Lanes4 rounding) {  // m
    Lanes4 low = lanes(std::numeric_limits<float>::max()), high = -low;
    points.each([&](Lanes4 p) { low = min(low, p), high = max(high, p); });
    children.each([&](const Sphere& child) { low = min(low, child.low), high = max(high, child.high); });
    const Lanes4 centre = first_three(0.5f * (low + high)), half = first_three(high - centre);
    float squared = 0.f, around = 0.f;
    points.each([&](Lanes4 p) {
      const Lanes4 off = first_three(p - centre);
      squared = std::fmax(squared, sum(off * off));
    });
    children.each([&](const Sphere& child) {
      const Lanes4 off = child.centre - centre;
      around = std::fmax(around, std::sqrt(sum(off * off)) + child.radius);
    });
    const float radius = std::fmin(std::sqrt(sum(half * half)), std::fmax(std::sqrt(squared), around));
    node = {centre, radius + 4.f * rounding[0], low, high};
  }

  struct Tool {
    const ConvexTool& convex;
    explicit Tool(const ConvexTool& tool) : convex(tool) {}  // `tool` must outlive it
  };
};

inline float least_distance(const Sphere& sphere, Lanes4 point) {  // m, a lower bound; 0 inside
  const Lanes4 off = point - sphere.centre;
  return std::fmax(0.f, std::sqrt(sum(off * off)) - sphere.radius);
}

inline BoxAnswer meets(const Sphere::Tool& tool, const Sphere& sphere) {  // Outside and Inside are certain
  const Lanes4 radius = lanes(sphere.radius);
  const Lanes4 middle = plane_distances(tool.convex.lanes[0], sphere.centre);
  if (negative_lanes(middle + radius)) return BoxAnswer::Outside;
  const Lanes4 middle2 = plane_distances(tool.convex.lanes[1], sphere.centre);
  if (negative_lanes(middle2 + radius)) return BoxAnswer::Outside;
  if (!negative_lanes(min(middle, middle2) - radius - lanes(2.f * tool.convex.slack))) return BoxAnswer::Inside;
  // Beyond the ends of the volume its planes rarely separate a sphere from the tool; its box does so more often.
  const ObbNode& box = tool.convex.box;
  const Lanes4 off = dot_rows(box.axis_x, box.axis_y, box.axis_z, sphere.centre - box.centre);
  const Lanes4 outside = max(abs(off) - box.extent, lanes(0.f));
  return sum(outside * outside) > sphere.radius * sphere.radius ? BoxAnswer::Outside : BoxAnswer::Crosses;
}

inline bool overlap(const Sphere& a, const Sphere& b) {  // closed
  const Lanes4 off = a.centre - b.centre;
  const float radius = a.radius + b.radius;
  return sum(off * off) <= radius * radius;
}

inline bool crosses(const Sphere& sphere, const LinePart& line) {  // whether it meets the sphere grown by its slack
  const Lanes4 off = sphere.centre - line.from;
  const float along = sum(line.along * line.along);
  const float t = along > 0.f ? std::fmin(std::fmax(sum(off * line.along) / along, line.first), line.last) : 0.f;
  const Lanes4 gap = off - lanes(t) * line.along;
  const float radius = sphere.radius + line.slack;
  return sum(gap * gap) <= radius * radius;
}

// Returns the squared diameter, m^2.
inline float size_of(const Sphere& sphere) { return 4.f * sphere.radius * sphere.radius; }

// Defines the k-DOP as the volume of a tree: slabs across k/2 fixed directions with coordinates -1, 0, 1. Source:
// Klosowski, Held, Mitchell, Sowizral, Zikan, "Efficient collision detection using bounding volume hierarchies of
// k-DOPs", 1998, as in Bergeret 2000, section 4.5.8. Units: metres; a slab's ends are in metres times the length of its
// direction.
struct SlabDirection {
  float x, y, z;
};

// The first three directions of every k are the world's axes.
template <int k>
constexpr std::array<SlabDirection, k / 2> slab_directions();
template <>
constexpr std::array<SlabDirection, 3> slab_directions<6>() {
  return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}
template <>
constexpr std::array<SlabDirection, 7> slab_directions<14>() {
  return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {1, -1, 1}, {1, 1, -1}, {1, -1, -1}}};
}
template <>
constexpr std::array<SlabDirection, 9> slab_directions<18>() {
  return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, -1, 0}, {1, 0, -1}, {0, 1, -1}}};
}
template <>
constexpr std::array<SlabDirection, 13> slab_directions<26>() {
  return {{{1, 0, 0},
           {0, 1, 0},
           {0, 0, 1},
           {1, 1, 0},
           {1, 0, 1},
           {0, 1, 1},
           {1, -1, 0},
           {1, 0, -1},
           {0, 1, -1},
           {1, 1, 1},
           {1, -1, 1},
           {1, 1, -1},
           {1, -1, -1}}};
}

// Slabs in groups of four, one per lane; the last group is padded with the first direction.
template <int k>
struct SlabLanes {
  static constexpr int kGroups = (k / 2 + 3) / 4;
  using Groups = std::array<Lanes4, kGroups>;

  // Returns the direction of slab 0 .. 4 kGroups - 1.
  static constexpr SlabDirection direction(int slab) { return slab_directions<k>()[slab < k / 2 ? slab : 0]; }

  // Returns the projections of a point onto four directions.
  template <int group>
  static Lanes4 shadow(Lanes4 point) {  // m times the length of each direction
    constexpr SlabDirection a = direction(4 * group), b = direction(4 * group + 1), c = direction(4 * group + 2),
                            d = direction(4 * group + 3);
    constexpr Lanes4 x{a.x, b.x, c.x, d.x}, y{a.y, b.y, c.y, d.y}, z{a.z, b.z, c.z, d.z};
    return dot_rows(x, y, z, point);
  }

  template <class Visit>
  static void each_group(Visit visit) {  // visit.operator()<group>() for 0 .. kGroups - 1
    visit.template operator()<0>();
    if constexpr (kGroups > 1) visit.template operator()<1>();
    if constexpr (kGroups > 2) visit.template operator()<2>();
    if constexpr (kGroups > 3) visit.template operator()<3>();
  }
};

template <int k>
struct KDop {
  using Slabs = SlabLanes<k>;
  typename Slabs::Groups low, high;  // [group] slabs by lane; the first three of group 0 are the box along x, y, z

  template <class Points, class Kids>
  static void fit(KDop& node, const Points& points, const Kids& children, Lanes4 rounding) {  // rounding: m
    typename Slabs::Groups low, high;
    low.fill(lanes(std::numeric_limits<float>::max()));
    high.fill(lanes(std::numeric_limits<float>::lowest()));
    points.each([&](Lanes4 p) {
      Slabs::each_group([&]<int group>() {
        const Lanes4 projected = Slabs::template shadow<group>(p);
        low[group] = min(low[group], projected);
        high[group] = max(high[group], projected);
      });
    });
    for (int g = 0; g < Slabs::kGroups; ++g) low[g] -= rounding, high[g] += rounding;
    children.each([&](const KDop& child) {
      for (int g = 0; g < Slabs::kGroups; ++g)
        low[g] = min(low[g], child.low[g]), high[g] = max(high[g], child.high[g]);
    });
    node = {low, high};
  }

  struct Tool {
    Aabb::Tool box;
    typename Slabs::Groups low, high;  // [group] the tool volume's own slabs

    explicit Tool(const ConvexTool& tool) : box(tool) {  // grown by 3 slacks; `tool` must outlive it
      for (int slab = 0; slab < 4 * Slabs::kGroups; ++slab) {
        const SlabDirection d = Slabs::direction(slab);
        double from = std::numeric_limits<double>::max(), to = -from;
        for (int i = 0; i < tool.corner_count; ++i) {
          const double projected = d.x * tool.corners[i].x + d.y * tool.corners[i].y + d.z * tool.corners[i].z;
          from = std::min(from, projected), to = std::max(to, projected);
        }
        low[slab / 4][slab % 4] = static_cast<float>(from) - 3.f * tool.slack;
        high[slab / 4][slab % 4] = static_cast<float>(to) + 3.f * tool.slack;
      }
    }
  };
};

template <int k>
BoxAnswer meets(const typename KDop<k>::Tool& tool, const KDop<k>& dop) {  // Outside and Inside are certain
  for (int g = 0; g < SlabLanes<k>::kGroups; ++g)
    if (negative_lanes(min(dop.high[g] - tool.low[g], tool.high[g] - dop.low[g]))) return BoxAnswer::Outside;
  return planes_say(tool.box, first_three(dop.low[0]), first_three(dop.high[0]));
}

template <int k>
bool overlap(const KDop<k>& a, const KDop<k>& b) {  // whether they overlap in every slab
  for (int g = 0; g < SlabLanes<k>::kGroups; ++g)
    if (negative_lanes(min(a.high[g] - b.low[g], b.high[g] - a.low[g]))) return false;
  return true;
}

template <int k>
bool crosses(const KDop<k>& dop, const LinePart& line) {  // whether the line meets the k-DOP grown by 3 slacks
  float first = line.first, last = line.last;
  bool left = true;
  SlabLanes<k>::each_group([&]<int group>() {
    left = left && clip_by_slabs(SlabLanes<k>::template shadow<group>(line.from),
                                 SlabLanes<k>::template shadow<group>(line.along), dop.low[group], dop.high[group],
                                 3.f * line.slack, 4, first, last);
  });
  return left;
}

// Returns the largest bound of the slabs, each divided by the length of its direction.
template <int k>
float least_distance(const KDop<k>& dop, Lanes4 point) {  // m, a lower bound
  float most = least_distance(Aabb{first_three(dop.low[0]), first_three(dop.high[0])}, point);
  SlabLanes<k>::each_group([&]<int group>() {
    const Lanes4 projected = SlabLanes<k>::template shadow<group>(point);
    const Lanes4 outside = max(dop.low[group] - projected, projected - dop.high[group]);
    for (int lane = 0; lane < 4; ++lane) {
      constexpr std::array<float, 4> one_over_root{0.f, 1.f, 0.70710678f, 0.57735027f};
      const SlabDirection d = SlabLanes<k>::direction(4 * group + lane);
      most = std::fmax(most, outside[lane] * one_over_root[static_cast<int>(d.x * d.x + d.y * d.y + d.z * d.z)]);
    }
  });
  return most;
}

template <int k>
float size_of(const KDop<k>& dop) {  // the box's squared diagonal, m^2
  const Lanes4 size = first_three(dop.high[0] - dop.low[0]);
  return sum(size * size);
}

// Defines the QuOSPO as the volume of a tree: slabs across three directions near the principal axes of the faces below,
// taken from a fixed table of directions, and the axis-aligned box. Based on: He, "Fast collision detection using
// QuOSPO trees", I3D 1999, as Bergeret 2000, section 4.5.9 outlines it: as tight as an oriented box, but with few
// orientations, so that the other object's extent along each is computed once. The outline does not define the table;
// ours holds the points of a grid on the faces of a cube.

// Grid steps from the middle of a cube's face to its edge: every direction is within 5.1 degrees of one of the table.
constexpr int kQuantisedSteps = 8;
constexpr int kQuantisedPerFace = (2 * kQuantisedSteps + 1) * (2 * kQuantisedSteps + 1);
constexpr int kQuantisedDirections = 3 * kQuantisedPerFace;  // opposite directions count as one

int nearest_quantised(const glm::vec3& direction);  // a number of the table; 0 for a vector 0
glm::vec3 quantised_direction(int number);          // unit

struct Quospo {
  Lanes4 low, high;                     // m  box along the world's axes: x, y, z, 0
  Lanes4 slab_low, slab_high;           // m  along the three directions, by lane; lane 3 is 0
  Lanes4 normal_x, normal_y, normal_z;  // 1  the directions by coordinate, lane k that of slab k
  Lanes4 edge_x, edge_y, edge_z;  // 1  dual basis by coordinate: a point is the sum of its slab values times these
  std::array<std::uint16_t, 3> direction;  // indices into the table

  template <class Points, class Kids>
  static void fit(Quospo& node, const Points& points, const Kids& children, Lanes4 rounding);  // directions stay

  struct Tool {
    Aabb::Tool box;
    explicit Tool(const ConvexTool& tool) : box(tool), known{} {}  // `tool` must outlive it
    // Gives the extent of the tool volume along a direction of the table; computes it at the first request.
    void extent(int direction, float& from, float& to) const;

   private:
    mutable std::array<float, kQuantisedDirections> low, high;  // m
    mutable std::array<bool, kQuantisedDirections> known;
  };
};

// Returns a QuOSPO of zero size with directions near the axes of `box`.
Quospo quantised(const ObbNode& box);

// Centre of the parallelepiped of the slabs, and its half edges; below, its half projection on four directions.
struct SlabBox {
  Lanes4 centre;                  // m
  Lanes4 edge_x, edge_y, edge_z;  // m  half edges by coordinate, lane k that of slab k
};
inline SlabBox slab_box(const Quospo& q) {  // m, world
  const Lanes4 middle = 0.5f * (q.slab_low + q.slab_high), half = 0.5f * (q.slab_high - q.slab_low);
  return {Lanes4{sum(middle * q.edge_x), sum(middle * q.edge_y), sum(middle * q.edge_z), 0.f}, q.edge_x * half,
          q.edge_y * half, q.edge_z * half};
}
inline Lanes4 half_shadow(const SlabBox& box, Lanes4 x, Lanes4 y, Lanes4 z) {  // m, lane k along x[k], y[k], z[k]
  return abs(x * splat<0>(box.edge_x) + y * splat<0>(box.edge_y) + z * splat<0>(box.edge_z)) +
         abs(x * splat<1>(box.edge_x) + y * splat<1>(box.edge_y) + z * splat<1>(box.edge_z)) +
         abs(x * splat<2>(box.edge_x) + y * splat<2>(box.edge_y) + z * splat<2>(box.edge_z));
}

template <class Points, class Kids>
void Quospo::fit(Quospo& node, const Points& points, const Kids& children, Lanes4 rounding) {
  const Lanes4 most = lanes(std::numeric_limits<float>::max());
  Lanes4 low = most, high = -most, slab_low = most, slab_high = -most;
  points.each([&](Lanes4 p) {
    low = min(low, p), high = max(high, p);
    const Lanes4 projected = dot_rows(node.normal_x, node.normal_y, node.normal_z, p);
    slab_low = min(slab_low, projected), slab_high = max(slab_high, projected);
  });
  children.each([&](const Quospo& child) {
    low = min(low, child.low), high = max(high, child.high);
    const SlabBox box = slab_box(child);
    const Lanes4 middle = dot_rows(node.normal_x, node.normal_y, node.normal_z, box.centre);
    const Lanes4 half = half_shadow(box, node.normal_x, node.normal_y, node.normal_z);
    // The child's axis-aligned box bounds it too.
    const Lanes4 world_middle = dot_rows(node.normal_x, node.normal_y, node.normal_z, 0.5f * (child.low + child.high));
    const Lanes4 world_half =
        dot_rows(abs(node.normal_x), abs(node.normal_y), abs(node.normal_z), 0.5f * (child.high - child.low));
    slab_low = min(slab_low, max(middle - half, world_middle - world_half));
    slab_high = max(slab_high, min(middle + half, world_middle + world_half));
  });
  node.low = first_three(low), node.high = first_three(high);
  node.slab_low = first_three(slab_low - rounding), node.slab_high = first_three(slab_high + rounding);
}

inline BoxAnswer meets(const Quospo::Tool& tool, const Quospo& q) {  // Outside and Inside are certain
  if (apart(q.low, q.high, tool.box.low, tool.box.high)) return BoxAnswer::Outside;
  const ConvexTool& convex = tool.box.convex;
  const SlabBox box = slab_box(q);
  const Lanes4 middle = plane_distances(convex.lanes[0], box.centre),
               middle2 = plane_distances(convex.lanes[1], box.centre);
  const Lanes4 half = half_shadow(box, convex.lanes[0].x, convex.lanes[0].y, convex.lanes[0].z);
  const Lanes4 half2 = half_shadow(box, convex.lanes[1].x, convex.lanes[1].y, convex.lanes[1].z);
  if (negative_lanes(min(middle + half, middle2 + half2))) return BoxAnswer::Outside;
  if (!negative_lanes(min(middle - half, middle2 - half2) - lanes(2.f * convex.slack))) return BoxAnswer::Inside;
  for (int k = 0; k < 3; ++k) {
    float from, to;
    tool.extent(q.direction[k], from, to);
    if (q.slab_low[k] > to || q.slab_high[k] < from) return BoxAnswer::Outside;
  }
  return planes_say(tool.box, q.low, q.high);
}

// Returns true when `other` is separated from `frame` along one of the directions of `frame`.
inline bool apart_along(const Quospo& frame, const SlabBox& other) {
  const Lanes4 middle = dot_rows(frame.normal_x, frame.normal_y, frame.normal_z, other.centre);
  const Lanes4 half = half_shadow(other, frame.normal_x, frame.normal_y, frame.normal_z);
  return apart(frame.slab_low, frame.slab_high, middle - half, middle + half);
}

inline bool overlap(const Quospo& a, const Quospo& b) {  // no direction of either's slabs or axes separates them
  if (apart(a.low, a.high, b.low, b.high)) return false;
  return !apart_along(a, slab_box(b)) && !apart_along(b, slab_box(a));
}

inline bool crosses(const Quospo& q, const LinePart& line) {  // whether the line meets `q` grown by its slack
  float first = line.first, last = line.last;
  return clip_by_slabs(line.from, line.along, q.low, q.high, line.slack, 3, first, last) &&
         clip_by_slabs(dot_rows(q.normal_x, q.normal_y, q.normal_z, line.from),
                       dot_rows(q.normal_x, q.normal_y, q.normal_z, line.along), q.slab_low, q.slab_high, line.slack, 3,
                       first, last);
}

inline float least_distance(const Quospo& q, Lanes4 point) {  // m, a lower bound
  const Lanes4 projected = dot_rows(q.normal_x, q.normal_y, q.normal_z, point);
  const Lanes4 outside = max(q.slab_low - projected, projected - q.slab_high);
  return std::fmax(least_distance(Aabb{q.low, q.high}, point),
                   std::fmax(outside[0], std::fmax(outside[1], outside[2])));
}

inline float size_of(const Quospo& q) {  // the sum of the squared slab widths, m^2
  const Lanes4 size = q.slab_high - q.slab_low;
  return sum(size * size);
}

}  // namespace trocar
