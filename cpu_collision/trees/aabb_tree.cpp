// Makes trees of axis-aligned boxes.
#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/tree_lines.hpp"
#include "cpu_collision/trees/tree_pairs.hpp"
#include "cpu_collision/trees/tree_touch.hpp"

namespace trocar {

std::unique_ptr<SurfaceTree> make_aabb_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Aabb>>(std::move(name), plan);
}

}  // namespace trocar
