// Makes trees of k-DOPs.
#include "cpu_collision/trees/kdop.hpp"
#include "cpu_collision/trees/make_tree.hpp"
#include "cpu_collision/trees/tree_lines.hpp"
#include "cpu_collision/trees/tree_pairs.hpp"
#include "cpu_collision/trees/tree_touch.hpp"

namespace trocar {

std::unique_ptr<SurfaceTree> make_kdop_tree(std::string name, const TreePlan& plan) {
  switch (plan.volume) {
    case VolumeKind::KDop6:
      return std::make_unique<VolumeTreeQuery<KDop<6>>>(std::move(name), plan);
    case VolumeKind::KDop14:
      return std::make_unique<VolumeTreeQuery<KDop<14>>>(std::move(name), plan);
    case VolumeKind::KDop18:
      return std::make_unique<VolumeTreeQuery<KDop<18>>>(std::move(name), plan);
    default:
      return std::make_unique<VolumeTreeQuery<KDop<26>>>(std::move(name), plan);
  }
}

}  // namespace trocar
