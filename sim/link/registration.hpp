// Registers a tracker with the scene: maps the matrices that it sends to the scene's world, and finds the registration
// from one pose of the tool. Units: metres, degrees.   Tested in tests/sim/registration_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "sim/scene/device_calibration.hpp"

namespace trocar {

// Returns the rigid transform of a registration.
glm::dmat4 matrix_of(const Registration& registration);
// Returns the registration that maps the matrix that a tracker sends now to the wanted one, rounded to 0.001 mm and
// 0.001 degrees. Both must be rigid.
Registration registration_between(const glm::dmat4& sent, const glm::dmat4& wanted);

}  // namespace trocar
