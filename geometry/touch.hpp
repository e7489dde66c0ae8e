// Defines the answer of a touch query: the touched faces of each tool, sorted by tool, then by face.
// Units: metres, world frame; time 1 = one step.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

#include "geometry/mesh_view.hpp"

namespace trocar {

// `Volume`: faces that share a point with the convex tool volume. `Exact`: faces within the radius of the swept
// triangle.
enum class TouchSet { Volume, Exact };

// One touched face. In a `Volume` answer only `face` is filled.
struct Touch {
  FaceId face{};
  glm::vec3 point{0.f};   // m     on the face, closest to the shaft's axis at `time`
  glm::vec3 normal{0.f};  // 1     unit, from point to the axis (tissue to tool); face normal if they cross at time 0
  float depth = 0.f;      // m     how far point must move along -normal to lie outside the tool's end pose, >= 0
  float time = 0.f;       // step  first instant in [0, 1] at which the face comes within the radius of the axis
};

// The query owns the data; they are valid until its next call.
struct TouchList {
  std::span<const Touch> touches;        // [touch] sorted by tool, then face
  std::span<const std::uint32_t> first;  // [tool + 1] touches of tool k are first[k] .. first[k + 1]

  std::span<const Touch> of_tool(std::size_t tool) const {
    return touches.subspan(first[tool], first[tool + 1] - first[tool]);
  }
};

}  // namespace trocar
