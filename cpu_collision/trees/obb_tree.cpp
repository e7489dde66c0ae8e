// Makes trees of oriented boxes.
#include "cpu_collision/trees/obb_build.hpp"
#include "cpu_collision/trees/obb_tests.hpp"
#include "cpu_collision/trees/tree_lines.hpp"
#include "cpu_collision/trees/tree_pairs.hpp"
#include "cpu_collision/trees/tree_touch.hpp"

namespace trocar {

template <>
struct TreeBuilder<ObbNode> {
  ObbScratch scratch;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             ObbTree& tree) {
    build_obb_tree(positions, faces, params, scratch, tree);
  }
  void release() { scratch = {}; }
  std::size_t memory_bytes() const { return trocar::memory_bytes(scratch); }
};

std::unique_ptr<SurfaceTree> make_obb_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<ObbNode>>(std::move(name), plan);
}

}  // namespace trocar
