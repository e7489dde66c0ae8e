// Defines the view's input for one picture, which a session or a replayed recording lends, and the quality of the
// picture. Units: metres, degrees, seconds, world frame.   Tested in tests/app/view_test.cpp
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "deform/join/clip.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"
#include "gpu_collision/queries.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// High: full shading and resolution. Medium: the film of fluid is smooth and still, no smoke, at most 480 lines. Low:
// at most 320 lines.
enum class Quality { Low, Medium, High };

struct QualityParams {
  double slowest_ms = 33.0;  // ms  longer drawing lowers the level
  double room_ms = 14.0;     // ms  shorter drawing raises the level; below slowest_ms by more than a level costs
  int down_after = 20;       // 1   slow pictures minus others before the level is lowered
  int up_after = 240;        // 1   consecutive quick pictures before it is raised; doubled after each failed step up
};

// Selects the quality automatically. Call drawn() after each picture; quality() is the level of the next.
class QualityKeeper {
 public:
  explicit QualityKeeper(const QualityParams& params = {}) : params_(params), up_after_(params.up_after) {}

  // Call after each picture. picture_ms: time of the completed drawing, without the wait for the display. `late`: what
  // is drawn has lost time since the picture before; the picture counts as slow, because both share the machine.
  void drawn(double picture_ms, bool late = false);
  Quality quality() const { return fixed_.value_or(quality_); }
  // Sets the user's choice; empty: automatic from the current level. The function may be called before every picture.
  void fix(std::optional<Quality> quality);
  bool fixed() const { return fixed_.has_value(); }

 private:
  QualityParams params_;
  Quality quality_ = Quality::High;
  std::optional<Quality> fixed_;
  int slow_ = 0, quick_ = 0, since_up_ = -1;
  int up_after_;
};

// What the lens and the head of the camera do to a picture.
struct LensLook {
  float fog = 0.f;       // 1    water on the lens, 0 clear .. 1
  float dark = 0.f;      // 1    the scope is in its port, 0 .. 1
  float turn_deg = 0.f;  // deg  of the camera head: the picture turns clockwise

  bool is_plain() const { return fog <= 0.f && dark <= 0.f && turn_deg == 0.f; }
};

struct ViewSettings {
  bool show_touched = true;
  bool round_field = true;
  bool whole_field = false;  // reduces the picture so that the round field is whole at any aspect ratio
  Quality quality = Quality::High;
  LensLook look = {};
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
  TissueLook look = TissueLook::Serosa;
  float opacity = 1.f;  // 0 .. 1, of a thin sheet seen at a right angle; 1: solid tissue
};

// A neighbour that does not move; instruments cast no shadow on it.
struct DrawnBackdrop {
  TriangleMesh mesh;  // m
  glm::vec3 colour{1.f};
  TissueLook look = TissueLook::Peritoneum;
};

// Returns the opacity of a sheet: half of the light passes 0.6 mm of membrane. `thickness`: m
float sheet_opacity(double thickness);

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

// Blood that has dripped off the organs and lies on the wall of the abdomen, around a place below its source.
struct DrawnPool {
  glm::vec2 middle{0.f};  // m, x and y
  float radius = 0.f;     // m, 0: none
};

// What joins, closes or covers tissue.
struct DrawnBonds {
  std::vector<DrawnStrand> strands;
  std::vector<DrawnClip> clips;
  std::vector<DrawnStrand> jets;  // of blood, in pieces
  double blood_area = 0.0;        // m^2, that blood covers: it absorbs the light of the lamp
  DrawnPool pool;
};

}  // namespace trocar
