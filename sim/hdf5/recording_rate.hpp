// Estimates how much a recording of a scene takes, before the session begins.   Units: bytes a second.
// Tested in tests/sim/recording_rate_test.cpp
#pragma once

#include "sim/scene/scene.hpp"

namespace trocar {

// Reads the meshes of the scene and makes the lattices of its organs; takes up to a second. Throws InputError when a
// mesh cannot be read.
double recording_rate(const Scene& scene);

}  // namespace trocar
