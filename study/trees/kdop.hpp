// Defines the k-DOP as the volume of a tree: slabs across k/2 fixed directions with coordinates -1, 0, 1.
// Source: Klosowski, Held, Mitchell, Sowizral, Zikan, "Efficient collision detection using bounding volume hierarchies
// of k-DOPs", 1998, as in section 4.5.8 of the thesis.   Units: metres; a slab's ends are in metres times the length of
// its direction.   Tested in tests/study/tree_build_test.cpp
#pragma once

#include "cpu_collision/trees/aabb.hpp"

namespace trocar {

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

  static constexpr SlabDirection direction(int slab) { return slab_directions<k>()[slab < k / 2 ? slab : 0]; }

  // Returns the projections of a point onto four directions.
  template <int group>
  static Lanes4 shadow(Lanes4 point) {
    constexpr SlabDirection a = direction(4 * group), b = direction(4 * group + 1), c = direction(4 * group + 2),
                            d = direction(4 * group + 3);
    constexpr Lanes4 x{a.x, b.x, c.x, d.x}, y{a.y, b.y, c.y, d.y}, z{a.z, b.z, c.z, d.z};
    return dot_rows(x, y, z, point);
  }

  template <class Visit>
  static void each_group(Visit visit) {
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
  static void fit(KDop& node, const Points& points, const Kids& children, Lanes4 rounding) {
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

    explicit Tool(const ConvexTool& tool) : box(tool) {
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
BoxAnswer meets(const typename KDop<k>::Tool& tool, const KDop<k>& dop) {
  for (int g = 0; g < SlabLanes<k>::kGroups; ++g)
    if (negative_lanes(min(dop.high[g] - tool.low[g], tool.high[g] - dop.low[g]))) return BoxAnswer::Outside;
  return planes_say(tool.box, first_three(dop.low[0]), first_three(dop.high[0]));
}

template <int k>
bool overlap(const KDop<k>& a, const KDop<k>& b) {
  for (int g = 0; g < SlabLanes<k>::kGroups; ++g)
    if (negative_lanes(min(a.high[g] - b.low[g], b.high[g] - a.low[g]))) return false;
  return true;
}

template <int k>
bool crosses(const KDop<k>& dop, const LinePart& line) {
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
float least_distance(const KDop<k>& dop, Lanes4 point) {
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
float size_of(const KDop<k>& dop) {
  const Lanes4 size = first_three(dop.high[0] - dop.low[0]);
  return sum(size * size);
}

}  // namespace trocar
