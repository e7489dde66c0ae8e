// Uploads the uniform data that all shaders of one picture share. The layout is that of `Frame` in
// app/view/shaders/frame.glsl (std140).
#pragma once

#include <glm/glm.hpp>
#include <optional>

#include "app/view/drawn.hpp"
#include "geometry/view_pyramid.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

struct FrameBlock {
  glm::mat4 clip_from_world{1.f};  // before the lens
  glm::vec4 eye_barrel, lamp_aspect, light_time, field, right_pixel, up, haze;
};

// Returns a pyramid that holds everything that a picture shows through the lens; nothing if the lens can show every
// direction.
std::optional<ViewPyramid> seen_pyramid(const ScopePose& scope, const Lens& lens, bool round_field, int width,
                                        int height);

// A picture reduced about its centre: a point that scope and lens show at p (half heights) appears at p * scale.
struct ReducedPicture {
  ScopePose scope;
  Lens lens;
  double scale = 1.0;
};
ReducedPicture reduced(const ScopePose& scope, const Lens& lens, double scale);
// Returns the scale at which the round field just fits into a picture.
double whole_field_scale(const Lens& lens, int width, int height);

FrameBlock frame_block(const ScopePose& scope, const Lens& lens, const ViewSettings& settings, int width, int height);

}  // namespace trocar
