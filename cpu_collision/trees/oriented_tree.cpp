// Makes trees of oriented boxes and of QuOSPOs. Both take topology and axes from the same build.
#include "cpu_collision/trees/make_tree.hpp"
#include "cpu_collision/trees/obb_build.hpp"
#include "cpu_collision/trees/obb_tests.hpp"
#include "cpu_collision/trees/quospo.hpp"
#include "cpu_collision/trees/tree_lines.hpp"
#include "cpu_collision/trees/tree_pairs.hpp"
#include "cpu_collision/trees/tree_touch.hpp"

namespace trocar {
namespace {

std::size_t bytes_of(const ObbScratch& s) {
  const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return bytes(s.moments) + bytes(s.aside) + bytes(s.split) + bytes(s.waiting);
}

}  // namespace

template <>
struct TreeBuilder<ObbNode> {
  ObbScratch scratch;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             ObbTree& tree) {
    build_obb_tree(positions, faces, params, scratch, tree);
  }
  void release() { scratch = {}; }
  std::size_t memory_bytes() const { return bytes_of(scratch); }
};

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
    return bytes_of(scratch) + trocar::memory_bytes(boxes) + boxes.nodes.capacity() * sizeof(ObbNode);
  }
};

std::unique_ptr<SurfaceTree> make_obb_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<ObbNode>>(std::move(name), plan);
}

std::unique_ptr<SurfaceTree> make_quospo_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Quospo>>(std::move(name), plan);
}

}  // namespace trocar
