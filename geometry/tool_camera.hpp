// Builds the planes and the camera of a tool volume. The inputs are double; these functions round to float, once.
// Frames are right-handed as in OpenGL: right x up = -forward, eye z = -depth.
// Units: metres, world frame.   Checked by sampling in tests/geometry/tool_volume_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/tool_volume.hpp"

namespace trocar {

enum PlaneOrder { kLeft, kRight, kBottom, kTop, kNear, kFar, kCap };

struct ViewFrame {
  glm::dvec3 origin, right, up, forward;
};

// A projection over a view frame. left and right are the two side planes, distance = x . (x, depth, 1). The clip
// coordinates are w = (right + left) / 2 and x = (left - right) / 2, so that -w <= x <= w is exactly those planes for
// any position of the apex. In the volume w >= w_least, which keeps the matrix's own top, bottom, near and far
// outside it.
struct Projection {
  glm::dvec3 left, right;
  double w_least, y_extent, near, far;  // |y| <= y_extent and near <= depth <= far hold in the volume
};

// Sets plane `slot`: the distance of a point x from it is inward . (x - through) + offset.
void set_plane(ToolVolume& volume, int slot, const glm::dvec3& inward, const glm::dvec3& through, double offset);

glm::mat4 view_of(const ViewFrame& frame);
glm::mat4 projection_of(const Projection& lens);

// Returns the box low <= (right, up, forward) <= high in a frame, under an orthographic camera.
ToolVolume box_volume(const ToolStep& step, const ViewFrame& frame, const glm::dvec3& low, const glm::dvec3& high);

}  // namespace trocar
