// Defines the calibration of an input device in a scene: the sensitivity of the axes of a hand-held device, and where
// the world of a tracker lies.   Keys: sim/scene/scene_keys.hpp   Tested in tests/sim/registration_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

// Of mouse, gamepad and SpaceMouse: each motion is multiplied by this; negative: reversed.
struct AxisScale {
  double right = 1.0, up = 1.0;  // 1  of the handle in the picture
  double in = 1.0;               // 1  insertion
  double roll = 1.0;             // 1

  bool operator==(const AxisScale&) const = default;
};

// Of a tracker: a point p of its world is turn p + move in the scene's world.
struct Registration {
  glm::dvec3 move{0.0};      // m
  glm::dvec3 turn_deg{0.0};  // degrees  rotation vector: its direction is the axis, its length the angle

  bool operator==(const Registration&) const = default;
};

}  // namespace trocar
