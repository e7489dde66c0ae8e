#include "app/view/frame_block.hpp"

#include <algorithm>

namespace trocar {
namespace {

constexpr double kNear = 0.005, kFar = 2.0;  // m

}  // namespace

FrameBlock frame_block(const ScopePose& scope, const Lens& lens, const ViewSettings& settings, int width, int height) {
  const float w = static_cast<float>(width), h = static_cast<float>(std::max(height, 1)), aspect = w / h;
  const ScopeAxes axes = axes_of(scope);
  const glm::dvec3 lamp = scope.eye + static_cast<double>(settings.lamp_offset.x) * axes.right +
                          static_cast<double>(settings.lamp_offset.y) * axes.up;
  FrameBlock block;
  block.clip_from_world = projection_matrix(scope, aspect, kNear, kFar) * view_matrix(scope);
  block.eye_barrel = {glm::vec3(scope.eye), static_cast<float>(lens.barrel)};
  block.lamp_aspect = {glm::vec3(lamp), aspect};
  block.light_time = {glm::vec3(0.5 * (scope.eye + lamp)), static_cast<float>(settings.time)};
  block.field = {0.5f * w, 0.5f * h, 2.f / (h * static_cast<float>(lens.field)), settings.round_field ? 1.f : 0.f};
  block.right_pixel = {glm::vec3(axes.right), 2.f / h};
  block.up = {glm::vec3(axes.up), 1.f};
  return block;
}

}  // namespace trocar
