// Reads a recorded tool motion: CSV with the header t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z[,roll_deg,grip]; one
// row per frame. Units: seconds, degrees, millimetres in the file, metres here. Reads the dialects of csv.hpp.
// Tested in tests/sim/trajectory_test.cpp and tests/app/input_test.cpp; format: docs/file-formats.md
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
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

}  // namespace trocar
