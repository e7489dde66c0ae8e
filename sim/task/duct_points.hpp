// Tells scripted trainees where ducts and vessels run now: points on the lines at rest, each of which moves like the
// nearest end of a fibre on its duct. Ducts without fibres are taken to be at rest.
// Units: metres.   Tested in tests/sim/duct_points_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/join/bonds.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

class DuctPoints {
 public:
  DuctPoints() = default;
  // `lines`: [organ] m, at rest, those of TaskStage. `ends`: [fibre] m, at rest.
  DuctPoints(std::span<const std::vector<glm::dvec3>> lines, std::span<const StageFibre> fibres,
             std::span<const FibreEnds> ends);

  // Moves the points. `ends`: [fibre] m, now.
  void follow(std::span<const FibreEnds> ends);
  // Returns the distance of a segment from the nearest line; infinite without ducts.
  double clearance(const glm::dvec3& from, const glm::dvec3& to) const;

 private:
  struct Point {
    glm::dvec3 rest, now;
    std::uint32_t fibre = 0;  // whose end it follows
    bool follows = false, at_a = false;
  };
  std::vector<Point> points_;
  std::vector<std::size_t> first_;  // [duct] its first point; then the end of the last duct
  std::vector<FibreEnds> rest_;     // [fibre] m
};

}  // namespace trocar
