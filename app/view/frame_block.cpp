#include "app/view/frame_block.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/matrix_transform.hpp>

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
  block.haze = {0.f, 0.f, 0.f, 1.f};
  return block;
}

// With p' = scale p, tan(fov' / 2) = tan(fov / 2) / scale and k' = k / scale^2, the division model gives r_d' = scale
// r_d.
ReducedPicture reduced(const ScopePose& scope, const Lens& lens, double scale) {
  if (scale == 1.0) return {scope, lens, scale};
  ReducedPicture picture{scope, {lens.barrel / (scale * scale), lens.field * scale}, scale};
  const double half = std::tan(glm::radians(0.5 * scope.field_of_view_deg)) / scale;
  picture.scope.field_of_view_deg = glm::degrees(2.0 * std::atan(half));
  return picture;
}

double whole_field_scale(const Lens& lens, int width, int height) {
  return std::min(1.0, static_cast<double>(width) / std::max(height, 1)) / lens.field;
}

// The lens shows a square of the pinhole picture that holds the field, or the picture's corners.
std::optional<ViewPyramid> seen_pyramid(const ScopePose& scope, const Lens& lens, bool round_field, int width,
                                        int height) {
  constexpr double kWidest = 0.98;  // of the distance at which the lens sees at right angles to its axis
  const double aspect = static_cast<double>(width) / std::max(height, 1), corner = std::hypot(aspect, 1.0);
  const double seen = round_field ? std::min(lens.field, corner) : corner;
  if (lens.barrel * seen * seen > kWidest) return std::nullopt;
  const double pinhole = pinhole_from_seen(lens, {seen, 0.0}).x;
  const glm::dmat4 square = glm::scale(glm::dmat4(1.0), glm::dvec3(1.0 / pinhole, 1.0 / pinhole, 1.0));
  return view_pyramid(square * projection_matrix(scope, 1.0, kNear, kFar) * view_matrix(scope));
}

}  // namespace trocar
