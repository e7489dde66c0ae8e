#include "sim/session/sight_watch.hpp"

#include <algorithm>

#include "cpu_collision/solids/point_in_solid.hpp"

namespace trocar {

void OrganTree::follow_change(const Organ& organ) {
  if (!tree_ || organ.change.empty() || topology_ != organ.topology_before) return;
  tree_->change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
  topology_ = organ.topology;
  fitted_ = true;
}

SurfaceTree& OrganTree::fitted(const Organ& organ) {
  if (!tree_ || topology_ != organ.topology) {
    if (!tree_) tree_ = make_surface_tree({.volume = &kAabbVolume, .update = TreeUpdate::Refit});
    tree_->rebuild({organ.positions, organ.mesh.faces});
    topology_ = organ.topology;
  } else if (!fitted_) {
    tree_->update(organ.positions);
  }
  fitted_ = true;
  return *tree_;
}

namespace {

// Compares the segment's box with the organ's: cheap, and most organs are not between the lens and the tips.
bool boxes_meet(const Organ& organ, const glm::dvec3& from, const glm::dvec3& to) {
  return glm::all(glm::lessThanEqual(glm::min(from, to), glm::dvec3(organ.box.high))) &&
         glm::all(glm::lessThanEqual(glm::dvec3(organ.box.low), glm::max(from, to)));
}

}  // namespace

std::optional<glm::dvec3> sight_end(const glm::dvec3& eye, const SightPoint& point) {
  const double distance = glm::distance(eye, point.at);
  if (!(distance > point.before)) return {};
  return eye + (point.at - eye) * ((distance - point.before) / distance);
}

void SightWatch::look(std::span<const Organ> organs, const glm::dvec3& eye, std::span<const SightPoint> points) {
  organs_.resize(organs.size());
  hidden_.assign(points.size(), 0);
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const Organ& organ = organs[k];
    organs_[k].begin_frame();
    if (organ.mesh.faces.empty()) continue;
    for (std::size_t point = 0; point < points.size(); ++point) {
      if (hidden_[point]) continue;
      const std::optional<glm::dvec3> end = sight_end(eye, points[point]);
      if (!end || !boxes_meet(organ, eye, *end)) continue;
      hidden_[point] = organs_[k].fitted(organ).crossed(eye, *end).empty() ? 0 : 1;
    }
  }
}

void SightWatch::follow_changes(std::span<const Organ> organs) {
  for (std::size_t k = 0; k < std::min(organs.size(), organs_.size()); ++k) organs_[k].follow_change(organs[k]);
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
    organs_[k].begin_frame();
    organs_[k].follow_change(organ);
    for (std::size_t tool = 0; tool < tips.size(); ++tool) {
      const glm::dvec3& tip = tips[tool];
      if (!may_be_in(organ, tool, tip)) continue;
      const solids::TipDepth found = solids::tip_depth(organs_[k].fitted(organ), {organ.positions, organ.mesh.faces},
                                                       {organ.box.low, organ.box.high}, tip);
      const float depth = static_cast<float>(found.depth);
      if (found.location != solids::PointLocation::Inside || !(depth > (buried_[tool] ? buried_[tool]->depth : 0.f)))
        continue;
      buried_[tool] = BuriedTip{static_cast<std::uint32_t>(k), depth, glm::vec3(found.out)};
    }
  }
}

}  // namespace trocar
