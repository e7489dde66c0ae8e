#include "sim/task/duct_points.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/duct_line.hpp"

namespace trocar {
namespace {

constexpr double kApart = 0.001;  // m, between the points of a line

}  // namespace

DuctPoints::DuctPoints(std::span<const std::vector<glm::dvec3>> lines, std::span<const StageFibre> fibres,
                       std::span<const FibreEnds> ends)
    : rest_(ends.begin(), ends.end()) {
  const auto attach = [&](std::uint32_t organ, Point& point) {
    double nearest = INFINITY;
    for (std::uint32_t f = 0; f < rest_.size(); ++f)
      for (const bool at_a : {true, false}) {
        if ((at_a ? fibres[f].a : fibres[f].b) != organ) continue;
        const double away = glm::distance(glm::dvec3(at_a ? rest_[f].a : rest_[f].b), point.rest);
        if (away < nearest) nearest = away, point.fibre = f, point.follows = true, point.at_a = at_a;
      }
  };
  for (std::uint32_t organ = 0; organ < lines.size(); ++organ) {
    if (lines[organ].empty()) continue;
    first_.push_back(points_.size());
    const double length = along_line(lines[organ], lines[organ].back());
    const int count = std::max(1, static_cast<int>(std::lround(length / kApart)));
    for (int k = 0; k <= count; ++k) {
      const glm::dvec3 at = point_on_line(lines[organ], length * k / count);
      points_.push_back({at, at});
      attach(organ, points_.back());
    }
  }
  first_.push_back(points_.size());
}

void DuctPoints::follow(std::span<const FibreEnds> ends) {
  for (Point& point : points_) {
    if (!point.follows) continue;
    const FibreEnds &now = ends[point.fibre], &rest = rest_[point.fibre];
    point.now =
        point.rest + (point.at_a ? glm::dvec3(now.a) - glm::dvec3(rest.a) : glm::dvec3(now.b) - glm::dvec3(rest.b));
  }
}

double DuctPoints::clearance(const glm::dvec3& from, const glm::dvec3& to) const {
  const closest::Segment reach = closest::segment(from, to);
  double least = INFINITY;
  for (std::size_t line = 0; line + 1 < first_.size(); ++line)
    for (std::size_t k = first_[line]; k + 1 < first_[line + 1]; ++k) {
      const closest::SegmentPair pair =
          closest::closest_segments(reach, closest::segment(points_[k].now, points_[k + 1].now));
      least = std::min(least, std::sqrt(pair.squared));
    }
  return least;
}

}  // namespace trocar
