#include "cpu_collision/trees/surface_tree.hpp"

#include <array>

#include "cpu_collision/trees/make_tree.hpp"

namespace trocar {
namespace {

struct KindName {
  std::string_view name;
  VolumeKind kind;
  SplitRule split;  // default split, when the name has none
  bool oriented;    // allows no other split
};

constexpr std::array<KindName, 8> kKinds = {{{"aabb", VolumeKind::Aabb, SplitRule::Mean, false},
                                             {"sphere", VolumeKind::Sphere, SplitRule::Octree, false},
                                             {"obb", VolumeKind::Obb, SplitRule::Mean, true},
                                             {"kdop6", VolumeKind::KDop6, SplitRule::Mean, false},
                                             {"kdop14", VolumeKind::KDop14, SplitRule::Mean, false},
                                             {"kdop18", VolumeKind::KDop18, SplitRule::Mean, false},
                                             {"kdop26", VolumeKind::KDop26, SplitRule::Mean, false},
                                             {"quospo", VolumeKind::Quospo, SplitRule::Mean, true}}};

struct SplitName {
  std::string_view name;
  SplitRule rule;
};
constexpr std::array<SplitName, 4> kSplits = {{{"median", SplitRule::Median},
                                               {"mean", SplitRule::Mean},
                                               {"middle", SplitRule::Middle},
                                               {"octree", SplitRule::Octree}}};

constexpr std::string_view kRefit = "-refit";

const KindName& kind_of(VolumeKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string name_of(const TreePlan& plan) {
  const KindName& kind = kind_of(plan.volume);
  std::string name(kind.name);
  if (!kind.oriented && plan.split != kind.split)
    name.append(":").append(kSplits[static_cast<std::size_t>(plan.split)].name);
  return plan.update == TreeUpdate::Refit ? name.append(kRefit) : name;
}

}  // namespace

std::optional<TreePlan> tree_plan(std::string_view name) {
  TreePlan plan{.update = TreeUpdate::Rebuild};
  if (name.ends_with(kRefit)) {
    plan.update = TreeUpdate::Refit;
    name.remove_suffix(kRefit.size());
  }
  const std::size_t colon = name.find(':');
  for (const KindName& kind : kKinds) {
    if (kind.name != name.substr(0, colon)) continue;
    plan.volume = kind.kind;
    plan.split = kind.split;
    if (colon == std::string_view::npos) return plan;
    for (const SplitName& split : kSplits) {
      if (split.name != name.substr(colon + 1) || kind.oriented) continue;
      plan.split = split.rule;
      return plan;
    }
  }
  return std::nullopt;
}

const std::vector<std::string>& tree_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const KindName& kind : kKinds)
      for (const std::string_view ending : {kRefit, std::string_view()})
        list.push_back(std::string(kind.name).append(ending));
    return list;
  }();
  return names;
}

std::unique_ptr<SurfaceTree> make_surface_tree(const TreePlan& plan) {
  switch (plan.volume) {
    case VolumeKind::Aabb:
      return make_aabb_tree(name_of(plan), plan);
    case VolumeKind::Sphere:
      return make_sphere_tree(name_of(plan), plan);
    case VolumeKind::Obb:
      return make_obb_tree(name_of(plan), plan);
    case VolumeKind::Quospo:
      return make_quospo_tree(name_of(plan), plan);
    default:
      return make_kdop_tree(name_of(plan), plan);
  }
}

}  // namespace trocar
