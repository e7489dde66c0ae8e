// Makes trees of QuOSPOs. Topology and axes come from the build of the oriented boxes.
#include "cpu_collision/trees/obb.hpp"
#include "cpu_collision/trees/tree_query.hpp"
#include "study/trees/quospo.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar {

template <>
struct TreeBuilder<Quospo> {
  ObbScratch scratch;
  ObbTree boxes;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             VolumeTree<Quospo>& tree) {
    build_obb_tree(positions, faces, params, scratch, boxes);
    static_cast<TreeTopology&>(tree) = boxes;
    tree.nodes.resize(boxes.nodes.size());
    std::transform(boxes.nodes.begin(), boxes.nodes.end(), tree.nodes.begin(), quantised);
  }
  void release() { scratch = {}, boxes = {}; }
  std::size_t memory_bytes() const {
    return trocar::memory_bytes(scratch) + trocar::memory_bytes(boxes) + held_bytes(boxes.nodes);
  }
};

std::unique_ptr<SurfaceTree> make_quospo_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Quospo>>(std::move(name), plan);
}

}  // namespace trocar
