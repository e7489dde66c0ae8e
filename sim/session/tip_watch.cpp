#include "sim/session/tip_watch.hpp"

#include "cpu_collision/solids/point_in_solid.hpp"

namespace trocar {

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
    organs_[k].begin_frame();
    organs_[k].follow_change(organ);
    for (std::size_t tool = 0; tool < tips.size(); ++tool) {
      if (!may_be_in(organ, tool, tips[tool])) continue;
      const solids::TipDepth found = solids::tip_depth(organs_[k].fitted(organ), {organ.positions, organ.mesh.faces},
                                                       {organ.box.low, organ.box.high}, tips[tool]);
      const float depth = static_cast<float>(found.depth);
      if (found.location != solids::PointLocation::Inside || !(depth > (buried_[tool] ? buried_[tool]->depth : 0.f)))
        continue;
      buried_[tool] = BuriedTip{static_cast<std::uint32_t>(k), depth, glm::vec3(found.out)};
    }
  }
}

}  // namespace trocar
