#include "sim/session/sight_watch.hpp"

#include <algorithm>

namespace trocar {
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

SurfaceTree& SightWatch::tree_of(const Organ& organ, Watched& watched) {
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

void SightWatch::look(std::span<const Organ> organs, const glm::dvec3& eye, std::span<const SightPoint> points) {
  organs_.resize(organs.size());
  hidden_.assign(points.size(), 0);
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const Organ& organ = organs[k];
    organs_[k].fitted = false;
    if (organ.mesh.faces.empty()) continue;
    for (std::size_t point = 0; point < points.size(); ++point) {
      if (hidden_[point]) continue;
      const std::optional<glm::dvec3> end = sight_end(eye, points[point]);
      if (!end || !boxes_meet(organ, eye, *end)) continue;
      hidden_[point] = tree_of(organ, organs_[k]).crossed(eye, *end).empty() ? 0 : 1;
    }
  }
}

// A tree that was up to date before the frame's change follows it; any other is rebuilt when it is next needed.
void SightWatch::follow_changes(std::span<const Organ> organs) {
  for (std::size_t k = 0; k < std::min(organs.size(), organs_.size()); ++k) {
    const Organ& organ = organs[k];
    Watched& watched = organs_[k];
    if (!watched.tree || organ.change.empty() || watched.topology != organ.topology_before) continue;
    watched.tree->change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
    watched.topology = organ.topology;
  }
}

}  // namespace trocar
