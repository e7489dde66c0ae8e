// The data of one frame that a task uses. A running session and a recording give bit-identical values, so an attempt
// has the same score live and from its recording. Units: metres, seconds, newtons, world frame.
// Tested in tests/app/observer_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

#include "app/scope/lens.hpp"
#include "app/scope/scope.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// A point attached to an organ's surface: vertices of a face and their weights, which sum to 1.
struct SurfaceMark {
  std::uint32_t organ = 0;
  glm::uvec3 vertex{0};
  glm::vec3 weight{1.f, 0.f, 0.f};
};

struct SeenTool {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;  // deg; 0 closed .. 1 open
  bool energy = false;                // diathermy on in this frame
  glm::vec3 force{0.f};               // N, of the tissue on the instrument
  float tip_depth = 0.f;              // m, penetration of the tip that the tissue step left; 0: in no organ
};

struct SeenOrgan {
  TouchList touches;                // faces by id, sorted by tool, then face
  std::span<const float> pressure;  // [touch] Pa
  std::uint32_t faces_gone = 0;     // removed in this frame: burnt, cut or torn
};

// Borrowed: valid until the source's next frame.
struct Observation {
  double time = 0.0;                // s
  std::span<const SeenTool> tools;  // [instrument of the scene]
  std::span<const SeenOrgan> organs;
  std::span<const glm::vec3> marks;  // [mark] m, at the time of the touch query
  ScopePose scope;
  Lens lens;
};

}  // namespace trocar
