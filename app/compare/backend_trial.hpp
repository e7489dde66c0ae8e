// Times backends on the organs of a scene, so that `auto` can choose the fastest one on this machine.
// Units: metres, milliseconds.   Tested in tests/app/backend_trial_test.cpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "sim/session/cpu_backends.hpp"

namespace trocar {

struct BackendTrial {
  std::string name;
  double median_ms = 0.0;  // of a frame: update, query and read-back of all organs
  int frames = 0;          // that were timed; 0: the backend does not work here
};

// Times each backend on frames in which a 5 mm instrument enters every organ. A backend that is several times slower
// than the best before it is timed on few frames. Backends that this machine cannot run are kept with 0 frames.
std::vector<BackendTrial> time_backends(BackendMaker& backends, std::span<const std::string> names,
                                        std::span<const MeshView> organs);

// Returns the fastest backend, the first of equals, with the times of all as the reason. Throws InputError when none
// works.
BackendChoice fastest(std::span<const BackendTrial> trials);

}  // namespace trocar
