// Motions given beforehand, and the devices that follow them: recorded and scripted.
// A recorded tool motion is read from CSV with the header t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z[,roll_deg,grip];
// one row per frame. Units: seconds, degrees, millimetres in the file, metres here. Reads the dialects of
// csv.hpp. Tested in tests/sim/device/trajectory_test.cpp and tests/app/files_test.cpp; format: docs/file-formats.md
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <memory>
#include <string>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "sim/device/device.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

struct TrajectoryRow {
  double time = 0.0;                  // s, never decreases
  glm::dvec3 pivot{0.0}, tip{0.0};    // m, tip != pivot
  double roll_deg = 0.0, grip = 0.0;  // degrees; 0 closed .. 1 open
  Diathermy energy = {};              // the pedal that is down; not a column of the file
};

struct Trajectory {
  std::vector<TrajectoryRow> rows;  // [frame], at least one

  ToolPose pose(std::size_t frame, double radius) const { return {rows[frame].pivot, rows[frame].tip, radius}; }
};

// Loads a trajectory. Throws InputError with file, line and remedy for a column that is missing or repeated, a cell
// that is not a finite number, decreasing time, more than a day, a coordinate more than 999 m from the origin, tip =
// pivot within a row or from one row to the next, a line longer than 4096 bytes, no rows.
Trajectory load_trajectory(const std::filesystem::path& file);

// Keeps every `stride`-th row, starting with the first.
Trajectory thinned(const Trajectory& trajectory, std::size_t stride);

// Throws InputError when the tool's radius is not a positive number or is larger than the organ.
void check_radius(double radius, const MeshView& organ);

// Replays a recorded motion by time, at any frame rate, as a device: a trajectory, or a tool of a recording.
// Between two rows it interpolates linearly; energy is that of the earlier row. A frame within a microsecond of a row
// takes the row exactly, so that the same frame rate gives the same poses. After the last row the tool stays.
// Units: metres, seconds.   Tested in tests/sim/device/script_device_test.cpp

// Returns the interpolated row at `time` (s, on the trajectory's own clock); before the first row the first, after the
// last row the last.
TrajectoryRow row_at(const Trajectory& trajectory, double time);

// Makes the device. The first call of pose() returns the first row.
std::unique_ptr<Device> make_replay_device(Trajectory trajectory);

// Defines devices that run without a person: one follows the rows of a trajectory, one follows a path given by a
// formula. Units: metres, seconds.   Tested in tests/sim/device/script_device_test.cpp

// Makes a device that takes row k in frame k. After the last row the tool stays.
std::unique_ptr<Device> make_trajectory_device(Trajectory trajectory);

// A surgical gesture around `target`, a point on the tissue, repeated every `period` seconds.
//   explore: the tip moves around the target on a slow three-dimensional curve and dips in and out along the shaft
//            (this curve does not repeat after `period`)
//   press:   from `reach` above the target down to `dip` below it, a pause, and back
//   pull:    move the open jaws 2 mm beyond the target, close them, pull back by `reach`, release
//   burn:    diathermy on; a line across the target, from -0.6 to +0.6 `reach`, 0.3 `dip` deep; diathermy off
struct ScriptPath {
  glm::dvec3 pivot{0.0}, target{0.0};  // m
  std::string kind = "explore";
  double reach = 0.030;  // m    approach distance, > 0
  double dip = 0.013;    // m    depth along the shaft, > 0
  double period = 4.0;   // s    duration of one repetition, > 0
};
std::unique_ptr<Device> make_script_device(const ScriptPath& path);

}  // namespace trocar
