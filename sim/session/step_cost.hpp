// Estimates what a frame of a scene costs, before it starts, from the numbers of the tissue model: substeps and
// springs. It reads no clock. Scenes within all limits can be so stiff, light or fine that a frame takes seconds.
// Units: seconds.   Tested in tests/app/output_test.cpp
#pragma once

#include <string>

#include "sim/session/session.hpp"

namespace trocar {

// Returns one sentence when a frame of `longest_frame` seconds takes much longer to compute than a frame may last; it
// names the organ, the substeps, the key that is the cause, and a remedy. Otherwise an empty text.
std::string slow_scene_text(const Scene& scene, const Session& session, double longest_frame);

// Prints that sentence on stderr.
void tell_slow_scene(const Scene& scene, const Session& session, double longest_frame);

}  // namespace trocar
