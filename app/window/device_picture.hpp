// Draws what a device sends: the instrument in the cone of its limits about the trocar, seen from the side; handle
// above the abdominal wall, tip below it.   Driven in tests/app/window_path_test.sh
#pragma once

#include "sim/device/joints.hpp"

namespace trocar {

struct DevicePicture {
  JointLimits limits;
  const Joints* joints = nullptr;  // null: nothing is received
  const DevicePose* pose = nullptr;
  bool jaws = false;
  glm::vec3 colour{1.f};
  glm::vec2 size{400.f, 300.f};  // units
};
// Draws into the current panel.
void draw_device_picture(const DevicePicture& shown);

}  // namespace trocar
