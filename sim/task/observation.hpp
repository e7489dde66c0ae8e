// Defines the data of one frame that a task uses. A running session and a recording give bit-identical values, so an
// attempt has the same score live and from its recording. Units: metres, seconds, newtons, world frame.
// Tested in tests/sim/task/observer_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/fluid/bleeding.hpp"
#include "deform/fluid/fluid_film.hpp"
#include "deform/join/bonds.hpp"
#include "deform/join/clip.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "sim/scene/instrument_scene.hpp"
#include "sim/scene/scope.hpp"
#include "sim/session/surface_marks.hpp"

namespace trocar {

struct SeenTool {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;  // deg; 0 closed .. 1 open
  Diathermy energy = {};              // diathermy in this frame
  std::uint32_t heats = 0;            // organ_bit() of the organs on which its hot metal acts
  glm::vec3 force{0.f};               // N, of the tissue on the instrument
  float tip_depth = 0.f;              // m, penetration of the tip that the tissue step left; 0: in no organ
};

struct SeenOrgan {
  TouchList touches;                // sorted by tool, then part, then face: slots in a session, ids in a recording
  std::span<const float> pressure;  // [touch] Pa
  std::uint32_t faces_removed = 0;  // removed in this frame: burnt, cut or torn
  // [touch] part of the tool, 0: its shaft; empty: all 0.
  std::span<const std::uint8_t> part = {};
  MeshView surface =
      {};  // m, at the time of the touch query, of organs that a step looks at; of others it may be empty
  std::span<const glm::vec3> new_rest = {};  // m  vertices that a burn, cut or tear made in this frame, at rest
  // [vertex] blood and bile that the picture shows, 0 .. 1; of a running session only: for scripted trainees
  std::span<const glm::vec2> fluid = {};
};

// Connective tissue.
struct SeenFibres {
  std::span<const std::uint8_t> intact;  // [fibre] at the end of this frame
  std::span<const FibreEnds> ends;       // [fibre] m, at the time of the touch query
  // Fibres that broke in this frame, and how. [broken]
  std::span<const std::uint32_t> broken;
  std::span<const FibreBreak> how;
};

// Blood and bile. Scenes in which nothing can bleed or spill have none.
struct SeenBleeding {
  std::span<const BleedSource> sources;  // in the order of opening; rate, half time and clotting may be those at first
  std::span<const FluidLoss> lost;       // [organ] m^3, until the end of this frame
  FluidAmounts fluids = {};              // at the end of this frame
};

// Borrowed: valid until the source's next frame.
struct Observation {
  double time = 0.0;                // s
  std::span<const SeenTool> tools;  // [instrument of the scene]
  std::span<const SeenOrgan> organs;
  std::span<const glm::vec3> marks;             // [mark] m, at the time of the touch query
  std::span<const std::uint8_t> marks_removed;  // [mark] 1: its tissue was removed before
  ScopePose scope;
  Lens lens;
  // In the order of closing, since the session began. What is not recorded is not set: stiffness, used, holds.
  std::span<const PlacedClip> clips = {};
  std::span<const TubeState> tubes = {};  // [organ] of ducts and vessels
  SeenFibres fibres = {};
  SeenBleeding bleeding = {};
  HiddenPoints hidden = {};  // behind organs; marks: the first TaskRun::watched_marks()
};

// Returns the middle of a fibre, m.
inline glm::dvec3 middle_of(const FibreEnds& ends) { return 0.5 * (glm::dvec3(ends.a) + glm::dvec3(ends.b)); }

// Defines a task's marks in the scope's view: targets and paths on the tissue, zones in the picture. The spans are
// valid for one frame. Units: metres, world frame; zones in pinhole image coordinates, half
// heights.   Drawn by app/view/mark_layer.hpp

enum class MarkState { Waiting, Next, Done, Error };

struct DrawnTarget {
  glm::vec3 location{0.f};
  float radius = 0.004f;  // m
  MarkState state = MarkState::Waiting;
  int number = 0;  // its position in the order of the targets, 1 ..; 0: none is shown
  bool operator==(const DrawnTarget&) const = default;
};

// A line on the tissue; the first `done` of its points are completed.
struct DrawnPath {
  std::span<const glm::vec3> points;
  float width = 0.002f;  // m
  std::size_t done = 0;
  MarkState state = MarkState::Waiting;
};

struct DrawnZone {
  std::span<const glm::dvec2> outline;
  bool violated = false;
};

struct DrawnMarks {
  std::vector<DrawnTarget> targets;
  std::vector<DrawnPath> paths;
  std::vector<DrawnZone> zones;
};

}  // namespace trocar
