#include "geometry/tool_camera.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

using glm::dvec3;

void set_plane(ToolVolume& volume, int slot, const dvec3& inward, const dvec3& through, double offset) {
  volume.planes[slot] = glm::vec4(glm::dvec4(inward, offset - glm::dot(inward, through)));
  volume.plane_count = std::max(volume.plane_count, slot + 1);
  if (slot != kLeft && slot != kRight) volume.clip_plane_mask |= 1u << slot;
}

glm::mat4 view_of(const ViewFrame& frame) {
  const dvec3 rows[3] = {frame.right, frame.up, -frame.forward};
  glm::mat4 view(1.f);
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) view[column][row] = static_cast<float>(rows[row][column]);
    view[3][row] = static_cast<float>(-glm::dot(rows[row], frame.origin));
  }
  return view;
}

glm::mat4 projection_of(const Projection& lens) {
  const dvec3 x = 0.5 * (lens.left - lens.right), w = 0.5 * (lens.left + lens.right);
  const double z_slope = lens.w_least / (lens.far - lens.near);
  const glm::dvec4 columns[4] = {{x[0], 0.0, 0.0, w[0]},
                                 {0.0, 0.5 * lens.w_least / lens.y_extent, 0.0, 0.0},
                                 {-x[1], 0.0, -z_slope, -w[1]},
                                 {x[2], 0.0, -0.5 * z_slope * (lens.near + lens.far), w[2]}};
  return glm::mat4(glm::dmat4(columns[0], columns[1], columns[2], columns[3]));
}

ToolVolume box_volume(const ToolStep& step, const ViewFrame& frame, const dvec3& low, const dvec3& high) {
  ToolVolume volume;
  volume.step = step;
  const dvec3 axes[3] = {frame.right, frame.up, frame.forward};
  for (int axis = 0; axis < 3; ++axis) {
    set_plane(volume, 2 * axis, axes[axis], frame.origin, -low[axis]);
    set_plane(volume, 2 * axis + 1, -axes[axis], frame.origin, high[axis]);
  }
  const double half = 0.5 * (high.x - low.x), y_extent = std::max(std::abs(low.y), std::abs(high.y));
  const dvec3 left{1.0, 0.0, -low.x}, right{-1.0, 0.0, high.x};
  volume.view = view_of(frame);
  volume.projection = projection_of({left / half, right / half, 1.0, y_extent, low.z, high.z});
  return volume;
}

}  // namespace trocar
