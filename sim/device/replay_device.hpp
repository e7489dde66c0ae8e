// Replays a recorded motion by time, at any frame rate, as a device: a trajectory, or a tool of a recording.
// Between two rows it interpolates linearly; energy is that of the earlier row. A frame within a microsecond of a row
// takes the row exactly, so that the same frame rate gives the same poses. After the last row the tool stays.
// Units: metres, seconds.   Tested in tests/sim/replay_device_test.cpp
#pragma once

#include <memory>

#include "sim/device/device.hpp"
#include "sim/device/trajectory.hpp"

namespace trocar {

// Returns the interpolated row at `time` (s, on the trajectory's own clock); before the first row the first, after the
// last row the last.
TrajectoryRow row_at(const Trajectory& trajectory, double time);

// Makes the device. The first call of pose() returns the first row.
std::unique_ptr<Device> make_replay_device(Trajectory trajectory);

}  // namespace trocar
