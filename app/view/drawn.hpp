// What the view is told to draw in one picture, borrowed from a session or a replayed recording.
// Units: metres, degrees, seconds, world frame.
#pragma once

#include <span>

#include "app/device/joints.hpp"
#include "app/scene/scene.hpp"
#include "app/view/quality.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"
#include "gpu_collision/queries.hpp"

namespace trocar {

struct ViewSettings {
  bool show_touched = true;
  bool round_field = true;
  Quality quality = Quality::High;
  double time = 0.0;                        // s    of the session: moves smoke and pulsing marks; may jump
  glm::vec2 lamp_offset{0.0025f, 0.0065f};  // m    of the lamp from the lens, right and up: the light guide lies beside
                                            //      the optics of a 10 mm scope, which is what makes shadows seen at all
};

// What the renderer needs of an organ; the session's own organs and a replayed recording both give it.
struct DrawnOrgan {
  MeshView rest;
  glm::vec3 colour{1.f};
  std::span<const glm::vec3> positions;           // [vertex] m, now
  TouchList touches;                              // faces by their place in rest.faces
  const GpuTouchQuery* gpu = nullptr;             // its buffer holds `positions` as of the last update
  std::span<const float> charred = {};            // [vertex] 0 sound .. 1 burnt; empty: sound
  std::uint32_t topology = 0;                     // another number: `rest` has changed
  std::span<const FaceId> tip_faces = {};         // as well, that tips touch, by tool
  std::span<const std::uint32_t> tip_first = {};  // [tool + 1] where each tool's begin; empty: unknown
};

struct DrawnTool {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;
  bool touching = false;
  InstrumentKind kind = InstrumentKind::Grasper;
  bool energy = false;      // the pedal is down: the wire glows, what it touches smokes
  JointLimits limits = {};  // grip 1 is limits.widest_grip_deg
};

}  // namespace trocar
