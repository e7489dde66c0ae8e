// Reads the motion of a tool or of the scope from a recording, as a trajectory that a device replays.
// Units: metres, seconds.   Tested in tests/sim/script_device_test.cpp
#pragma once

#include <filesystem>
#include <string>

#include "sim/device/trajectory.hpp"

namespace trocar {

// Loads the motion of a tool from a recording (.h5), or a trajectory from any other file. `tool`: name of the tool in
// the recording; empty: the tool named `fallback`, or the only one. Throws InputError with the file and its tools.
Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback);
// Loads the scope's motion from a recording. Throws InputError when the recording has none.
Trajectory load_scope_motion(const std::filesystem::path& file);

}  // namespace trocar
