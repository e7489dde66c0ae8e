// Defines devices that run without a person: one follows the rows of a trajectory, one follows a path given by a
// formula. Units: metres, seconds.   Tested in tests/sim/script_device_test.cpp
#pragma once

#include <memory>
#include <string>

#include "sim/device/device.hpp"
#include "sim/device/trajectory.hpp"

namespace trocar {

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
