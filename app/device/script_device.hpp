// A tool that follows the rows of a trajectory, or a path given by a formula: what runs without a person.
#pragma once

#include <memory>

#include "app/device/device.hpp"
#include "app/input/trajectory.hpp"

namespace trocar {

// Row k is frame k; after the last row the tool stays.
std::unique_ptr<Device> make_trajectory_device(Trajectory trajectory);

// A surgeon's hand exploring: the tip goes round `target` on a slow three-dimensional figure and dips in and out along
// the shaft.
struct ScriptPath {
  glm::dvec3 pivot{0.0}, target{0.0};  // m
  double reach = 0.030;                // m    sideways, > 0
  double dip = 0.013;                  // m    along the shaft, > 0
  double period = 4.0;                 // s    of one round, > 0
};
std::unique_ptr<Device> make_script_device(const ScriptPath& path);

}  // namespace trocar
