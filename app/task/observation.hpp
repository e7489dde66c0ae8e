// What a task sees of one frame. A running session and a recording both give it, the same numbers to the bit, so that
// an attempt is scored alike while it happens and ever after. Units: metres, seconds, newtons, world frame.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

#include "app/scope/lens.hpp"
#include "app/scope/scope.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// A point that rides on an organ's surface: vertices of a face at rest and their weights, which sum to 1.
struct SurfaceMark {
  std::uint32_t organ = 0;
  glm::uvec3 vertex{0};
  glm::vec3 weight{1.f, 0.f, 0.f};
};

struct SeenTool {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;  // deg; 0 closed .. 1 open
  bool energy = false;                // burns in this frame
  glm::vec3 force{0.f};               // N, of the tissue on the instrument
  float tip_depth = 0.f;              // m, of the tip in an organ that could not give way; 0: in none
};

struct SeenOrgan {
  TouchList touches;                // faces by id, sorted by tool, then face
  std::span<const float> pressure;  // [touch] Pa
  std::uint32_t faces_gone = 0;     // in this frame: burnt, cut or torn
};

// Borrowed: valid until the giver's next frame.
struct Observation {
  double time = 0.0;                // s
  std::span<const SeenTool> tools;  // [instrument of the scene]
  std::span<const SeenOrgan> organs;
  std::span<const glm::vec3> marks;  // [mark] m, as the tools were asked about
  ScopePose scope;
  Lens lens;
};

}  // namespace trocar
