// A device that replays a recorded motion by time, at any frame rate: a trajectory, or a tool of a recording.
// Between two rows it interpolates linearly; energy is that of the earlier row. A frame within a microsecond of a row
// takes the row exactly, so that the same frame rate gives the same poses. After the last row the tool stays.
// Units: metres, seconds.   Tested in tests/app/replay_device_test.cpp
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/device/device.hpp"
#include "app/input/trajectory.hpp"

namespace trocar {

// The interpolated row at `time` (s, on the trajectory's own clock); before the first row the first, after the last row
// the last.
TrajectoryRow row_at(const Trajectory& trajectory, double time);

// The first call of pose() returns the first row.
std::unique_ptr<Device> make_replay_device(Trajectory trajectory);

// Loads the motion of a tool from a recording (.h5), or a trajectory from any other file. `tool`: name of the tool in
// the recording; empty: the tool named `fallback`, or the only one. Error: InputError with the file and its tools.
Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback);
// Loads the scope's motion from a recording. Error: InputError when the recording has none.
Trajectory load_scope_motion(const std::filesystem::path& file);

}  // namespace trocar
