#include "cpu_collision/trees/surface_tree.hpp"

#include <array>

namespace trocar {
namespace {

struct SplitName {
  std::string_view name;
  SplitRule rule;
};
constexpr std::array<SplitName, 4> kSplits = {{{"median", SplitRule::Median},
                                               {"mean", SplitRule::Mean},
                                               {"middle", SplitRule::Middle},
                                               {"octree", SplitRule::Octree}}};

constexpr std::string_view kRefit = "-refit";

std::string name_of(const TreePlan& plan) {
  std::string name(plan.volume->name);
  if (!plan.volume->oriented && plan.split != plan.volume->split)
    name.append(":").append(kSplits[static_cast<std::size_t>(plan.split)].name);
  return plan.update == TreeUpdate::Refit ? name.append(kRefit) : name;
}

}  // namespace

std::optional<TreePlan> tree_plan(std::string_view name, std::span<const TreeVolume> volumes) {
  TreePlan plan{.update = TreeUpdate::Rebuild};
  if (name.ends_with(kRefit)) {
    plan.update = TreeUpdate::Refit;
    name.remove_suffix(kRefit.size());
  }
  const std::size_t colon = name.find(':');
  for (const TreeVolume& volume : volumes) {
    if (volume.name != name.substr(0, colon)) continue;
    plan.volume = &volume;
    plan.split = volume.split;
    if (colon == std::string_view::npos) return plan;
    for (const SplitName& split : kSplits) {
      if (split.name != name.substr(colon + 1) || volume.oriented) continue;
      plan.split = split.rule;
      return plan;
    }
  }
  return std::nullopt;
}

std::unique_ptr<SurfaceTree> make_surface_tree(const TreePlan& plan) { return plan.volume->make(name_of(plan), plan); }

}  // namespace trocar
