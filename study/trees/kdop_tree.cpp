// Makes trees of k-DOPs.
#include "cpu_collision/trees/tree_query.hpp"
#include "study/trees/kdop.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar {

template <int k>
std::unique_ptr<SurfaceTree> make_kdop_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<KDop<k>>>(std::move(name), plan);
}

template std::unique_ptr<SurfaceTree> make_kdop_tree<6>(std::string name, const TreePlan& plan);
template std::unique_ptr<SurfaceTree> make_kdop_tree<14>(std::string name, const TreePlan& plan);
template std::unique_ptr<SurfaceTree> make_kdop_tree<18>(std::string name, const TreePlan& plan);
template std::unique_ptr<SurfaceTree> make_kdop_tree<26>(std::string name, const TreePlan& plan);

}  // namespace trocar
