#include "sim/task/tissue_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/session/surface_marks.hpp"

namespace trocar {

TissueLine::TissueLine(const TaskScene& task, const TaskStage& stage)
    : organ_(organ_of(stage, task.locations.front().organ)) {
  const MeshView& surface = stage.surfaces[organ_];
  std::vector<glm::vec3> corners, locations;
  for (const SurfaceMark& mark : marks_of(task, stage)) corners.push_back(position_of(mark, surface.positions));
  for (std::size_t k = 0; k + 1 < corners.size(); ++k) {
    const int steps = std::max(1, int(std::ceil(glm::distance(corners[k], corners[k + 1]) / kStep)));
    for (int step = 0; step < steps; ++step)
      locations.push_back(glm::mix(corners[k], corners[k + 1], float(step) / float(steps)));
  }
  locations.push_back(corners.back());
  marks_ = nearest_marks(organ_, surface, locations);
  for (const SurfaceMark& mark : marks_) {
    const glm::vec3 point = position_of(mark, surface.positions);
    along_.push_back(points_.empty() ? 0.0 : along_.back() + glm::distance(point, points_.back()));
    points_.push_back(point);
  }
}

TissueLine::Foot TissueLine::nearest(const glm::dvec3& point, std::size_t first, std::size_t last) const {
  Foot nearest{std::numeric_limits<double>::infinity()};
  for (std::size_t k = first; k < std::min(last, steps()); ++k) {
    const glm::dvec3 from(points_[k]), step = glm::dvec3(points_[k + 1]) - from;
    const double squared = glm::dot(step, step);
    const double wanted = squared > 0.0 ? glm::dot(point - from, step) / squared : 0.0;
    const double share = std::clamp(wanted, 0.0, 1.0);
    const double away = glm::distance(point, from + share * step);
    if (away >= nearest.away) continue;
    const bool beyond = (k == 0 && wanted < 0.0) || (k + 1 == steps() && wanted > 1.0);
    nearest = {away, glm::mix(along_[k], along_[k + 1], share), beyond};
  }
  return nearest;
}

}  // namespace trocar
