// Computes rotations about an axis with the sine and cosine of geometry/elementary.hpp. The bits are the same on every
// machine, unlike those of glm::angleAxis and glm::rotate. Units: radians.   Tested in
// tests/geometry/elementary_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>

#include "geometry/elementary.hpp"

namespace trocar {

// Returns the rotation by `angle` about `axis`, a unit vector.
inline glm::dquat turn_about(const glm::dvec3& axis, double angle) {
  return {elementary::cos(0.5 * angle), elementary::sin(0.5 * angle) * axis};
}

}  // namespace trocar
