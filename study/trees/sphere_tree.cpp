// Makes trees of spheres.
#include "cpu_collision/trees/tree_query.hpp"
#include "study/trees/sphere.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar {

std::unique_ptr<SurfaceTree> make_sphere_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Sphere>>(std::move(name), plan);
}

}  // namespace trocar
