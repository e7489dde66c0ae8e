// Heats voxels around hot metal: every voxel of the lattice keeps its largest depth in the heat so far.
#include "deform/heat.hpp"

#include <algorithm>
#include <cmath>

#include "deform/cut/sculpt_steps.hpp"

namespace trocar {
namespace {

// The heat is stored up to this distance outside its boundary, so that the boundary is located between voxels.
constexpr float kHeatBand = 1.f;  // voxels
// Where tissue voxels get hotter without burning, the surface is updated each time the heat has risen by this much.
constexpr float kHeatStep = 0.25f;  // voxels
// Metal that touches the surface without reaching the centre of a voxel burns the nearest one within this distance.
constexpr float kNearest = 0.6f;     // voxels
constexpr float kFaintHeat = 0.05f;  // voxels  its depth in the heat

bool is_sound(const HotSegment& hot) {
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(hot.from[axis]) || !std::isfinite(hot.to[axis])) return false;
  return std::isfinite(hot.radius) && hot.radius > 0.f;
}

bool apart(const HeatBox& a, const HeatBox& b) {
  return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::greaterThan(a.low, b.high));
}

// Computes Cohen-Sutherland outcodes: the faces of the box beyond which each node lies. A cell whose nodes all lie
// beyond the same face is outside.
void find_sides(const HeatBox& box, std::span<const glm::vec3> nodes, std::span<std::uint8_t> sides) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const glm::vec3& p = nodes[i];
    sides[i] = static_cast<std::uint8_t>((p.x < box.low.x) | (p.x > box.high.x) << 1 | (p.y < box.low.y) << 2 |
                                         (p.y > box.high.y) << 3 | (p.z < box.low.z) << 4 | (p.z > box.high.z) << 5);
  }
}

void heat_voxel(Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel, float depth) {
  if (!(depth > sculpture.voxels.heat[voxel])) return;
  sculpture.voxels.heat[voxel] = depth;
  if (sculpture.voxels.kind[voxel] != Voxel::Tissue) return;
  if (depth > 0.f)
    burn_voxel(sculpture, lattice, voxel);
  else if (depth > sculpture.shown[voxel] + kHeatStep && touches_wall(sculpture, voxel))
    sculpture.scratch.moved.push_back(voxel);
}

}  // namespace

glm::vec3 place_of(const Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                   std::uint32_t voxel) {
  const glm::vec3 rest(sculpture.voxels.centre(sculpture.voxels.at(voxel)));
  return place_in(lattice, nodes, carrier_of(sculpture, lattice, voxel), rest);
}

HeatAxis heat_axis(const HotSegment& hot, float margin) {
  const glm::vec3 along = hot.to - hot.from, more(hot.radius + margin);
  return {hot.from,
          along,
          glm::dot(along, along),
          hot.radius,
          {glm::min(hot.from, hot.to) - more, glm::max(hot.from, hot.to) + more}};
}

bool find_heat(Sculpture& sculpture, std::span<const glm::vec3> nodes, std::span<const HotSegment> hot, float margin) {
  std::vector<HeatAxis>& axes = sculpture.scratch.axes;
  axes.clear();
  HeatBox box;
  for (const HotSegment& segment : hot) {
    if (!is_sound(segment)) continue;
    axes.push_back(heat_axis(segment, margin));
    box.low = glm::min(box.low, axes.back().box.low);
    box.high = glm::max(box.high, axes.back().box.high);
  }
  if (!axes.empty()) find_sides(box, nodes, sculpture.scratch.sides);
  return !axes.empty();
}

bool reach_cell(Sculpture& sculpture, const LatticeCell& cell, std::span<const glm::vec3> nodes, CellHeat& out) {
  std::uint8_t beyond = 0xff;
  for (const std::uint32_t node : cell.node) beyond &= sculpture.scratch.sides[node];
  if (beyond != 0) return false;
  HeatBox box;
  for (int corner = 0; corner < 8; ++corner) {
    out.x[corner] = nodes[cell.node[corner]];
    box.low = glm::min(box.low, out.x[corner]);
    box.high = glm::max(box.high, out.x[corner]);
  }
  out.near.clear();
  for (const HeatAxis& axis : sculpture.scratch.axes)
    if (cell.divided || !apart(box, axis.box)) out.near.push_back(axis);  // a slit may open wider than its cell
  return !out.near.empty();
}

bool in_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
               std::span<const HotSegment> metal) {
  if (!find_heat(sculpture, nodes, metal, 0.f)) return false;
  bool inside = false;
  for_each_voxel_near_heat(
      sculpture, lattice, nodes, [&](std::uint32_t voxel, const glm::vec3& p, std::span<const HeatAxis> near) {
        if (inside || sculpture.voxels.kind[voxel] != Voxel::Tissue) return;
        inside = std::any_of(near.begin(), near.end(), [&](const HeatAxis& axis) { return axis.depth(p) >= 0.f; });
      });
  return inside;
}

void heat_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                 std::span<const HotSegment> hot, bool touching) {
  const auto voxel_size = static_cast<float>(sculpture.voxels.size), per_voxel = 1.f / voxel_size;
  if (!find_heat(sculpture, nodes, hot, kHeatBand * voxel_size)) return;
  float best = -kNearest;
  std::uint32_t nearest = kNoVoxel;
  for_each_voxel_near_heat(sculpture, lattice, nodes,
                           [&](std::uint32_t voxel, const glm::vec3& p, std::span<const HeatAxis> near) {
                             float depth = -INFINITY;
                             for (const HeatAxis& axis : near) depth = std::max(depth, axis.depth(p) * per_voxel);
                             if (depth > best && sculpture.voxels.kind[voxel] == Voxel::Tissue)
                               best = depth, nearest = voxel;
                             heat_voxel(sculpture, lattice, voxel, std::min(depth, 1.f));
                           });
  if (touching && nearest != kNoVoxel && sculpture.scratch.burnt.empty())
    heat_voxel(sculpture, lattice, nearest, kFaintHeat);
}

}  // namespace trocar
