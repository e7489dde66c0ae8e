#include "sim/session/tip_watch.hpp"

#include "cpu_collision/solids/tip_depth.hpp"

namespace trocar {

// A tree that was up to date before the frame's change follows it; any other is rebuilt when it is next needed.
void TipWatch::follow_change(const Organ& organ, Watched& watched) {
  if (!watched.tree || organ.change.empty() || watched.topology != organ.topology_before) return;
  watched.tree->change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
  watched.topology = organ.topology;
  watched.fitted = true;
}

SurfaceTree& TipWatch::tree_of(const Organ& organ, Watched& watched) {
  if (!watched.tree || watched.topology != organ.topology) {
    if (!watched.tree) watched.tree = make_surface_tree({.volume = &kAabbVolume, .update = TreeUpdate::Refit});
    watched.tree->rebuild({organ.positions, organ.mesh.faces});
    watched.topology = organ.topology;
  } else if (!watched.fitted) {
    watched.tree->update(organ.positions);
  }
  watched.fitted = true;
  return *watched.tree;
}

namespace {

// Returns false if the tip is outside the organ's box, or the touch query found no face that the tool touches.
bool may_be_in(const Organ& organ, std::size_t tool, const glm::dvec3& tip) {
  if (organ.mesh.faces.empty()) return false;
  if (tool + 1 < organ.touches.first.size() && organ.touches.of_tool(tool).empty()) return false;
  return glm::all(glm::lessThanEqual(glm::dvec3(organ.box.low), tip)) &&
         glm::all(glm::lessThanEqual(tip, glm::dvec3(organ.box.high)));
}

}  // namespace

void TipWatch::look(std::span<const Organ> organs, std::span<const glm::dvec3> tips) {
  organs_.resize(organs.size());
  buried_.assign(tips.size(), std::nullopt);
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const Organ& organ = organs[k];
    Watched& watched = organs_[k];
    watched.fitted = false;
    follow_change(organ, watched);
    for (std::size_t tool = 0; tool < tips.size(); ++tool) {
      if (!may_be_in(organ, tool, tips[tool])) continue;
      const solids::TipDepth found = solids::tip_depth(tree_of(organ, watched), {organ.positions, organ.mesh.faces},
                                                       {organ.box.low, organ.box.high}, tips[tool]);
      const float depth = static_cast<float>(found.depth);
      if (found.location != solids::PointLocation::Inside || !(depth > (buried_[tool] ? buried_[tool]->depth : 0.f)))
        continue;
      buried_[tool] = BuriedTip{static_cast<std::uint32_t>(k), depth, glm::vec3(found.out)};
    }
  }
}

}  // namespace trocar
