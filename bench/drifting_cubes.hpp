// Moves cubes of one size that drift through a large cube and bounce off its walls. The density is the same for any
// number of cubes.
#pragma once

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::bench {

class DriftingCubes {
 public:
  static constexpr double kSide = 0.01;    // m  of each
  static constexpr double kFilled = 0.25;  // 1  of the space: about one overlap per object

  // Makes the cubes. `speed`: motion of each cube per frame, in its own random direction, as a share of its side.
  DriftingCubes(std::size_t objects, double speed)
      : length_(kSide * std::cbrt(static_cast<double>(objects) / kFilled)), bodies_(objects), boxes_(objects) {
    std::mt19937 random(static_cast<std::uint32_t>(objects));
    std::uniform_real_distribution<double> coordinate(0.0, length_);
    std::normal_distribution<double> axis;
    for (Body& body : bodies_) {
      body.centre = {coordinate(random), coordinate(random), coordinate(random)};
      const glm::dvec3 direction(axis(random), axis(random), axis(random));
      body.motion = speed * kSide * glm::normalize(direction);
    }
    set_boxes();
  }

  void frame() {
    for (Body& body : bodies_) {
      body.centre += body.motion;
      for (int axis = 0; axis < 3; ++axis)
        if (body.centre[axis] < 0.0 || body.centre[axis] > length_) {
          body.motion[axis] = -body.motion[axis];
          body.centre[axis] += 2.0 * body.motion[axis];
        }
    }
    set_boxes();
  }

  std::span<const broad::Box> boxes() const { return boxes_; }

 private:
  struct Body {
    glm::dvec3 centre, motion;
  };

  void set_boxes() {
    for (std::size_t k = 0; k < bodies_.size(); ++k)
      boxes_[k] = broad::cube(glm::vec3(bodies_[k].centre), static_cast<float>(kSide / 2.0));
  }

  double length_;  // m
  std::vector<Body> bodies_;
  std::vector<broad::Box> boxes_;
};

}  // namespace trocar::bench
