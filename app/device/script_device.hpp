// A tool that follows the rows of a trajectory, or a path given by a formula: what runs without a person.
#pragma once

#include <memory>
#include <string>

#include "app/device/device.hpp"
#include "app/input/trajectory.hpp"

namespace trocar {

// Row k is frame k; after the last row the tool stays.
std::unique_ptr<Device> make_trajectory_device(Trajectory trajectory);

// What a surgeon's hand does about `target`, a place on the tissue; over and over, once in `period` seconds.
//   explore: the tip goes round the target on a slow three-dimensional figure and dips in and out along the shaft
//   press:   from `reach` above the target down to `dip` below it, a wait, and back
//   pull:    open jaws on the target, closed there, drawn back by `reach`, let go
//   burn:    energy on, a line of six tenths of `reach` either way across the target, three tenths of `dip` deep,
//            energy off
struct ScriptPath {
  glm::dvec3 pivot{0.0}, target{0.0};  // m
  std::string kind = "explore";
  double reach = 0.030;  // m    > 0
  double dip = 0.013;    // m    along the shaft, > 0
  double period = 4.0;   // s    of one round, > 0
};
std::unique_ptr<Device> make_script_device(const ScriptPath& path);

}  // namespace trocar
