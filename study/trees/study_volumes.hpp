// Declares the bounding volumes of the study and lists all volumes. The templates of cpu_collision/trees make the
// trees. Units: metres.   Tested in tests/study/trees_test.cpp
#pragma once

#include <array>

#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {

std::unique_ptr<SurfaceTree> make_sphere_tree(std::string name, const TreePlan& plan);  // empty; `name`: for name()
template <int k>
std::unique_ptr<SurfaceTree> make_kdop_tree(std::string name, const TreePlan& plan);    // k: 6, 14, 18, 26
std::unique_ptr<SurfaceTree> make_quospo_tree(std::string name, const TreePlan& plan);  // topology as `obb`

// The trainer's volumes and the study's, in the order of the tables. The sphere tree is an octree, as in Bergeret 2000.
inline constexpr std::array<TreeVolume, 8> kAllTreeVolumes = {{
    kAabbVolume,
    {"sphere", SplitRule::Octree, false, make_sphere_tree},
    kObbVolume,
    {"kdop6", SplitRule::Mean, false, make_kdop_tree<6>},
    {"kdop14", SplitRule::Mean, false, make_kdop_tree<14>},
    {"kdop18", SplitRule::Mean, false, make_kdop_tree<18>},
    {"kdop26", SplitRule::Mean, false, make_kdop_tree<26>},
    {"quospo", SplitRule::Mean, true, make_quospo_tree},
}};

}  // namespace trocar
