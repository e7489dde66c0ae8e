// Draws a line on an organ: short steps, projected onto the surface at rest, join its corners. The line moves with the
// tissue. Arc lengths are those at rest, so that stretching does not change them.
// Units: metres.   Tested in tests/sim/task/task_run_test.cpp
#pragma once

#include <span>
#include <vector>

#include "sim/task/task_goal.hpp"

namespace trocar {

class TissueLine {
 public:
  static constexpr float kStep = 0.003f;  // m   longest step

  TissueLine(const TaskScene& task, const TaskStage& stage);

  std::uint32_t organ() const { return organ_; }
  const std::vector<SurfaceMark>& marks() const { return marks_; }
  std::span<const glm::vec3> points() const { return points_; }  // m, as of the last follow()
  void follow(std::span<const glm::vec3> locations) { points_.assign(locations.begin(), locations.end()); }

  // The nearest point of steps first .. last - 1; `beyond`: it is an end of the line, and `point` lies past it.
  struct Foot {
    double away = 0.0;   // m   from the point
    double along = 0.0;  // m   at rest, from the first corner
    bool beyond = false;
  };
  Foot nearest(const glm::dvec3& point, std::size_t first, std::size_t last) const;
  std::size_t steps() const { return points_.size() - 1; }
  double length() const { return along_.back(); }  // m, at rest

 private:
  std::uint32_t organ_;
  std::vector<SurfaceMark> marks_;  // [point]
  std::vector<glm::vec3> points_;   // [point] m
  std::vector<double> along_;       // [point] m
};

}  // namespace trocar
