// Defines the view's input for one picture, which a session or a replayed recording lends.
// Units: metres, degrees, seconds, world frame.
#pragma once

#include <span>
#include <vector>

#include "app/view/quality.hpp"
#include "deform/join/clip.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"
#include "gpu_collision/queries.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

struct ViewSettings {
  bool show_touched = true;
  bool round_field = true;
  bool whole_field = false;  // reduces the picture so that the round field is whole at any aspect ratio
  Quality quality = Quality::High;
  double time = 0.0;                        // s    of the session: moves smoke and pulsing marks; may jump
  glm::vec2 lamp_offset{0.0025f, 0.0065f};  // m    of the lamp from the lens, right and up: in a 10 mm scope the light
                                            //      guide lies beside the optics, so that shadows are visible
};

// An organ as the renderer needs it, from a session or a replayed recording.
struct DrawnOrgan {
  MeshView rest;
  glm::vec3 colour{1.f};
  std::span<const glm::vec3> positions;           // [vertex] m, current
  TouchList touches;                              // faces as indices into rest.faces
  unsigned buffer = 0;                            // OpenGL buffer with `positions` as of the last update; 0: none
  std::span<const float> charred = {};            // [vertex] 0 intact .. 0.5 pale .. 1 charred; empty: intact
  std::span<const glm::vec2> wet = {};            // [vertex] blood and bile, 0 none .. 1 opaque; empty: none
  std::uint32_t topology = 0;                     // changes whenever `rest` changes
  std::span<const FaceId> tip_faces = {};         // faces that tips touch, by tool; indices into rest.faces
  std::span<const std::uint32_t> tip_first = {};  // [tool + 1] offset of each tool's faces; empty: unknown
};

struct DrawnTool {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;
  bool touching = false;
  InstrumentKind kind = InstrumentKind::Grasper;
  Diathermy energy = {};    // diathermy on: the wire glows
  bool heats = false;       // its hot metal acts on tissue, which smokes
  JointLimits limits = {};  // grip 1 is limits.widest_grip_deg
  bool ghost = false;       // transparent, without shadow and smoke; ghosts come after all other instruments
};

// A stretched fibre of connective tissue.
struct DrawnStrand {
  glm::vec3 from, to;  // m
  float radius;        // m
};

struct DrawnClip {
  ClipPose pose;
  float length;  // m, of the legs
};

// What joins, closes or covers tissue.
struct DrawnBonds {
  std::vector<DrawnStrand> strands;
  std::vector<DrawnClip> clips;
  double blood_area = 0.0;  // m^2, that blood covers: it absorbs the light of the lamp
};

}  // namespace trocar
