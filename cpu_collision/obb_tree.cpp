#include "cpu_collision/obb_tree.hpp"

#include <limits>

namespace trocar {
namespace {

// Rounding of axes and of sums in float, as a part of the largest coordinate; boxes grow by it to contain their
// vertices.
constexpr float kBoxRounding = 1e-6f;

struct Bounds {
  Lanes4 low = lanes(std::numeric_limits<float>::max()), high = lanes(std::numeric_limits<float>::lowest());

  void add(Lanes4 p) {
    low = min(low, p);
    high = max(high, p);
  }
};

// Half shadow of a box on each axis of `frame`, by lane.
Lanes4 half_shadow(const ObbNode& frame, const ObbNode& box) {
  const Lanes4 x = box.axis_x * box.extent, y = box.axis_y * box.extent, z = box.axis_z * box.extent;
  const Lanes4 a = frame.axis_x * splat<0>(x) + frame.axis_y * splat<0>(y) + frame.axis_z * splat<0>(z);
  const Lanes4 b = frame.axis_x * splat<1>(x) + frame.axis_y * splat<1>(y) + frame.axis_z * splat<1>(z);
  const Lanes4 c = frame.axis_x * splat<2>(x) + frame.axis_y * splat<2>(y) + frame.axis_z * splat<2>(z);
  return abs(a) + abs(b) + abs(c);
}

Lanes4 along_axes(const ObbNode& frame, Lanes4 point) {
  return dot_rows(frame.axis_x, frame.axis_y, frame.axis_z, point);
}

void set_box(ObbNode& node, const Bounds& shadow, Lanes4 rounding) {
  const Lanes4 middle = 0.5f * (shadow.low + shadow.high);
  node.extent = first_three(0.5f * (shadow.high - shadow.low) + rounding);
  node.centre = Lanes4{sum(middle * node.axis_x), sum(middle * node.axis_y), sum(middle * node.axis_z), 0.f};
}

}  // namespace

void fit_obb_tree(std::span<const Lanes4> positions, float reach, ObbTree& tree) {
  const Lanes4 rounding = lanes(kBoxRounding * reach);
  for (std::uint32_t i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 0;) {
    ObbNode& node = tree.nodes[i];
    Bounds shadow;
    if (tree.is_leaf(i)) {
      const IndexRange range = tree.leaf_vertices[i];
      for (std::uint32_t k = range.first; k < range.first + range.count; ++k) {
        shadow.add(along_axes(node, positions[tree.vertices[k]]));
      }
    } else {
      for (const std::uint32_t child : {i + 1, tree.skip[i + 1]}) {
        const Lanes4 middle = along_axes(node, tree.nodes[child].centre), half = half_shadow(node, tree.nodes[child]);
        shadow.add(middle - half);
        shadow.add(middle + half);
      }
    }
    set_box(node, shadow, rounding);
  }
}

}  // namespace trocar
