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

}  // namespace trocar
