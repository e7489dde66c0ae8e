// A tool that repeats a motion by its times: a trajectory or a tool of a recording, whatever the frame rate of now.
// Between two rows everything goes linearly; energy is that of the row before. A frame that falls on a row (within a
// microsecond) takes it exactly, so that the same frame rate gives the same poses. After the last row the tool stays.
// Units: metres, seconds.   Tested in tests/app/replay_device_test.cpp
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/device/device.hpp"
#include "app/input/trajectory.hpp"

namespace trocar {

// The row at `time`, s on the trajectory's own clock; the first and the last beyond its ends.
TrajectoryRow row_at(const Trajectory& trajectory, double time);

// The first pose asked for is the first row.
std::unique_ptr<Device> make_replay_device(Trajectory trajectory);

// A recording (.h5): the motion of one of its tools; anything else: a trajectory file. `tool`: which tool of the
// recording; empty: the one named `fallback`, or the only one. Error: InputError naming the file and its tools.
Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback);
// The scope's motion in a recording. Error: InputError when the recording keeps none.
Trajectory load_scope_motion(const std::filesystem::path& file);

}  // namespace trocar
