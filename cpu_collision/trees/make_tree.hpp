// Declares a factory for each kind of tree; surface_tree.cpp chooses one by the plan.
#pragma once

#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {

std::unique_ptr<SurfaceTree> make_aabb_tree(std::string name, const TreePlan& plan);
std::unique_ptr<SurfaceTree> make_sphere_tree(std::string name, const TreePlan& plan);
std::unique_ptr<SurfaceTree> make_kdop_tree(std::string name, const TreePlan& plan);
std::unique_ptr<SurfaceTree> make_obb_tree(std::string name, const TreePlan& plan);
std::unique_ptr<SurfaceTree> make_quospo_tree(std::string name, const TreePlan& plan);

}  // namespace trocar
