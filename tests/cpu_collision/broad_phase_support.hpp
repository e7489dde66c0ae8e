// Makes moving boxes for tests of the broad phase: coherent motion and every kind of disturbance. Units: metres.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::test {

// Boxes that move in a cube of side 1. Half of them snap to a lattice of 1/64, so that they often just touch.
class MovingBoxes {
 public:
  MovingBoxes(std::uint32_t seed, std::size_t count)
      : dice_(seed), pace_(0.05 / std::cbrt(double(count))), bodies_(count), boxes_(count) {
    for (Body& body : bodies_) {
      body.centre = dice_.in_cube(0.5) + 0.5;
      body.half = glm::abs(dice_.in_cube(0.6 / std::cbrt(double(count))));
      body.motion = dice_.in_cube(pace_);
      body.snaps = dice_.pick(2) == 0;
      if (dice_.pick(10) == 0) body.half = glm::dvec3(0.0);
    }
    move();
  }

  // Advances one frame; occasionally with an event: teleports, all boxes at one point, empty boxes, infinite boxes.
  void frame(bool events) {
    for (Body& body : bodies_) {
      body.motion += dice_.in_cube(0.2 * pace_);
      for (int axis = 0; axis < 3; ++axis)
        if (std::abs(body.centre[axis] - 0.5) > 0.6) body.motion[axis] = body.centre[axis] > 0.5 ? -pace_ : pace_;
      body.centre += body.motion;
      body.motion *= 0.98;
    }
    move();
    if (!events) return;
    const int event = dice_.pick(40);
    if (event == 0) teleport();
    if (event == 1) gather();
    if (event < 8) spoil();
  }

  const std::vector<broad::Box>& boxes() const { return boxes_; }
  Dice& dice() { return dice_; }

 private:
  struct Body {
    glm::dvec3 centre, half, motion;
    bool snaps;
  };

  static glm::vec3 snapped(const glm::dvec3& p) { return glm::vec3(glm::round(p * 64.0) / 64.0); }

  void move() {
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      const Body& body = bodies_[k];
      const glm::dvec3 low = body.centre - body.half, high = body.centre + body.half;
      boxes_[k] = body.snaps ? broad::Box{snapped(low), snapped(high)} : broad::Box{glm::vec3(low), glm::vec3(high)};
    }
  }

  void teleport() {
    for (Body& body : bodies_)
      if (dice_.pick(2)) body.centre = dice_.in_cube(0.5) + 0.5;
    move();
  }

  // Makes every box the same point, or the same box, for this frame only.
  void gather() {
    const float half = dice_.pick(2) ? 0.f : 0.25f;
    for (broad::Box& box : boxes_) box = broad::cube(glm::vec3(0.5f), half);
  }

  // Makes a few boxes empty or infinite.
  void spoil() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (int k = 0; k < 3; ++k) {
      broad::Box& box = boxes_[std::size_t(dice_.pick(int(boxes_.size())))];
      const int axis = dice_.pick(3);
      switch (dice_.pick(6)) {
        case 0:
          box.low[axis] = std::nanf("");
          break;
        case 1:
          box.high[axis] = std::nanf("");
          break;
        case 2:
          std::swap(box.low, box.high);
          break;
        case 3:
          box.high[axis] = kInfinity;
          break;
        case 4:
          box = {glm::vec3(-kInfinity), glm::vec3(kInfinity)};
          break;
        default:
          box = {};
      }
    }
  }

  Dice dice_;
  double pace_;  // m a frame
  std::vector<Body> bodies_;
  std::vector<broad::Box> boxes_;
};

}  // namespace trocar::test
