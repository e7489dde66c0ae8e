// Defines the content of a recording, and the interface of a class that stores it: in a file (sim/hdf5/recorder.hpp),
// in memory, or over a network; what it says about the run; checksums of its frames.
// Units: metres, newtons, seconds, milliseconds for stage times.   Layout of a file: docs/file
// Tested in tests/sim/recording/recorder_test.cpp, pack_test.cpp and attempt_file_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deform/contact/surface_dents.hpp"
#include "deform/fluid/bleeding.hpp"
#include "deform/fluid/fluid_film.hpp"
#include "deform/join/bonds.hpp"
#include "deform/join/clip.hpp"
#include "deform/model_version.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/scene/scope.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// What a recording says about the run that it holds, beside its frames: who, what kind of run, and how it ended.

// The time that scores use: the simulated time of the ticks, or the wall time of a live attempt.
enum class ScoreClock { Tick, Wall };

// What moved the instruments: a person's hands, a scripted trainee who shows a task, recorded motion, a script or
// another program. Only an Attempt counts for a person.
enum class Activity : std::uint8_t { Attempt, Demonstration, Replay, Script };

// How a run ended. Unknown: its program was killed, or it is still running. Done: the task was
// completed. NotDone: the task ended without that, by its time limit or a critical error. Stopped: before the task
// ended, or there is no task.
enum class Ending : std::uint8_t { Unknown, Done, NotDone, Stopped };

// Values of RunNote::device.
inline constexpr const char* kPerformerDevice = "performer";
inline constexpr const char* kTrajectoryDevice = "trajectory";
inline constexpr const char* kProgramDevice = "program";

struct RunNote {
  ScoreClock clock = ScoreClock::Tick;
  Activity activity = Activity::Script;
  std::string person = {};  // id of who moved the instruments; empty: no person, or not known
  std::string device = {};  // what moved everything, instead of the scene's devices; empty: these
  // Of an attempt: 32 hexadecimal digits, unique in the world, which stay the same in every copy of the recording.
  std::string attempt_key = {};
};

std::string_view name_of(Activity activity);  // "attempt", "demonstration", "replay", "script"
std::string_view name_of(Ending ending);      // "unknown", "done", "not done", "stopped"
// Returns how a run with this task ends if it ends now. `task`: null without one.
Ending ending_of(const TaskRun* task);
bool is_attempt_key(std::string_view text);
// Returns the key of an attempt that has this content: the same content, the same key.
std::string attempt_key_from(std::string_view content);
// Returns nothing for an unknown name.
std::optional<Activity> activity_named(std::string_view name);

// A recording has at most this many fibres, so that a reader can limit its memory. Scenes have some hundreds.
constexpr std::size_t kMostFibres = std::size_t{1} << 20;

struct RecordedOrgan {
  std::string name;
  const TriangleMesh* mesh = nullptr;     // rest shape when the recording begins
  const TissueModel* tissue = nullptr;    // its embedding computes the surface of every frame from the nodes
  std::span<const FaceId> face_ids = {};  // [face of mesh] ascending; empty: 0, 1, ...
  std::uint32_t next_face = 0;            // id of the next new face; 0: the last of face_ids + 1
};

// An end of a fibre of connective tissue: a point of an organ's lattice, or a fixed point of the abdominal wall.
struct RecordedFibreEnd {
  std::uint32_t organ = kWall;
  Embedding embedding{};  // of an organ
  glm::vec3 point{0.f};   // m, at rest
};
struct RecordedFibre {
  RecordedFibreEnd a, b;
  float free_length = 0.f, reference = 1.f;  // m, Fibre
  std::uint32_t group = 0;                   // number of its layer or band: first the scene's layers, then its bands
};

// The state of a duct or vessel that has changed.
struct RecordedTube {
  std::uint32_t organ = 0;
  TubeState state;
};

// A source of bleeding whose state has changed, or that has moved to another vertex.
struct RecordedBleedChange {
  std::uint32_t source = 0, vertex = 0;  // its number, in the order of opening
  BleedState state = BleedState::Flows;
};

// The data that do not change during a session.
struct RecordingHeader {
  std::string scene_text, scene_name, version, machine, gl, backend, mode, cover, date;
  double frame_rate = 60.0;  // Hz
  std::vector<RecordedOrgan> organs;
  std::vector<std::string> tools;   // names
  std::vector<double> tool_radius;  // [tool] m
  std::vector<std::string> tips;    // [tool] kind of its tip and largest aperture of its jaws, degrees: "grasper 60"
  std::size_t dents = 0;            // of an organ: one of each part of all tools, then one of each tool
  std::vector<ToolPose> before;     // [tool] pose in the frame before the first; empty: the session begins here
  std::vector<glm::dvec2> before_joints;  // [tool] roll in degrees and grip in that frame; empty as `before`
  std::vector<std::string> stages;        // names of the stage times, in their order
  // Names of the backends that may answer, indexed by RecordedFrame::backend. Empty: `backend` alone.
  std::vector<std::string> backends;
  std::string backend_why;  // the reason for the first backend, one sentence
  RunNote run;
  std::vector<std::string> devices;  // names: [tool], then the scope's
  int model_version = kModelVersion;
  std::vector<RecordedFibre> fibres;  // connective tissue, at most kMostFibres; their ends follow from the nodes
  // Fibres that were broken before the recording begins, and how; it is not known after a restored session.
  std::vector<std::uint32_t> broken;
  std::vector<FibreBreak> broken_how = {};  // [broken]; empty: torn
  bool has_clips = false;                   // the scene has a clip applier, a duct or a vessel
  // Clips that were closed before the recording begins, in that order, and the ducts and vessels in another state than
  // at first.
  std::vector<PlacedClip> clips;
  std::vector<RecordedTube> tubes;
  bool has_bleeding = false;  // an organ of the scene can bleed or spill
  // Sources that opened before the recording begins, in that order and as they are then.
  std::vector<BleedSource> sources;
};

// The changes of a surface within a frame, after the touch query: they take effect in the next frame. If the surface
// changed several times, the lists are concatenated in that order.
struct RecordedChange {
  std::span<const FaceId> removed = {};               // ids of the removed faces
  std::span<const glm::uvec3> new_faces = {};         // their ids continue the numbering
  std::span<const glm::vec3> new_rest = {};           // [new vertex] m
  std::span<const Embedding> new_embedding = {};      // [new vertex]
  std::span<const std::uint32_t> carried = {};        // vertices that get a new embedding
  std::span<const Embedding> carried_embedding = {};  // [carried]
};

struct RecordedOrganFrame {
  std::span<const glm::vec3> nodes;               // [node] m, positions at the touch query
  TouchList touches;                              // faces are slots of face_ids
  std::span<const FaceId> face_ids = {};          // [slot] ids at the touch query; empty: touches contain ids
  std::span<const float> pressure = {};           // [touch] Pa, contact pressure in this frame; empty: 0
  const RecordedChange* change = nullptr;         // null: the surface does not change
  std::span<const FaceId> tip_ids = {};           // ids of the faces that tips touch, sorted by tool, then face
  std::span<const std::uint32_t> tip_first = {};  // [tool + 1] index of each tool's first face; empty: no tip touches
  std::span<const std::uint8_t> part = {};        // [touch] part of the tool, 0: its shaft; empty: all 0
  std::span<const SurfaceDent> dents = {};        // at the touch query; of each part, then of each tool; empty: none

  FaceId id_of(const Touch& touch) const { return face_ids.empty() ? touch.face : face_ids[index(touch.face)]; }
};

// State of a tool in a frame: it followed its device, or it was frozen because the device gave no usable pose, was
// stale or lost.
enum class ToolState : std::uint8_t { Good, NoPose, Stale, Lost };

// What the hand does with a tool. With the poses these are all the inputs of a session.
struct RecordedHandle {
  double aperture = 1.0;  // 0 closed .. 1 open, of the handle: tissue between the jaws can keep them open
  double force = 1.0;     // of the hand, relative to a firm grip, 0..1
  double pump = 0.0;      // 0: off; 1: suction; 2: irrigation
};

// Two tools near each other.
struct RecordedClash {
  std::uint32_t first, second;  // first < second
  float distance;               // m   between their surfaces, < 0: they collide
  glm::vec3 point;              // m   position
};

// The clash tables list the pairs of tools in the order (0, 1), (0, 2) .. (1, 2) ..
constexpr std::size_t tool_pairs(std::size_t tools) { return tools < 2 ? 0 : tools * (tools - 1) / 2; }

// One frame; its spans must be valid during append().
struct RecordedFrame {
  double time = 0.0;                            // s
  std::span<const ToolPose> poses;              // [tool]
  std::span<const glm::dvec2> roll_grip;        // [tool] roll in degrees; grip 0 closed .. 1 open
  std::span<const RecordedOrganFrame> organs;   // [organ]
  std::span<const glm::vec3> forces;            // [tool] N
  std::span<const float> stage_ms;              // [stage]
  std::uint32_t disagreements = 0;              // faces on which the checks disagree
  std::span<const std::uint8_t> energy = {};    // [tool] Diathermy of this frame; empty: all off
  std::span<const RecordedClash> clashes = {};  // pairs of tools that are near each other, each once
  std::span<const float> tip_depth = {};        // [tool] m, depth of its tip in an organ; 0: outside; empty: all 0
  std::span<const ToolState> states = {};       // [tool]; empty: all good
  ScopePose scope = {};
  std::uint8_t backend = 0;             // the backend that answered: index into RecordingHeader::backends
  TouchFault fault = TouchFault::None;  // the fault that ended another backend in this frame
  // Faces compared with the double-precision reference in this frame, number of answers from which they were sampled,
  // and number of faces on which the reference disagrees.
  std::array<std::uint32_t, 3> sample = {};
  double wall = 0.0;                          // s   FrameClock::wall
  double lost = 0.0;                          // s   FrameClock::lost
  std::span<const std::uint32_t> heats = {};  // [tool] bit k: its hot metal acts on organ k; empty: none does
  // Fibres that broke or were cut in this frame, after the touch query: the next frame is the first without them.
  std::span<const std::uint32_t> broken = {};
  std::span<const FibreBreak> broken_how = {};  // [broken]; empty: torn
  // Clips that closed in this frame, after the touch query; numbers of those that came off, in the order of closing
  // since the session began; ducts and vessels whose state changed.
  std::span<const PlacedClip> clips = {};
  std::span<const std::uint32_t> lost_clips = {};
  std::span<const RecordedTube> tubes = {};
  // What each organ has lost so far; sources that opened in this frame, after the touch query; sources that changed.
  std::span<const FluidLoss> lost_fluid = {};  // [organ] m^3; empty: all 0
  std::span<const BleedSource> sources = {};
  std::span<const RecordedBleedChange> bleed_changes = {};
  FluidAmounts fluids = {};                      // at the end of the frame
  std::span<const RecordedHandle> handles = {};  // [tool]
  double step = 0.0;                             // s   simulated duration of the frame
  HiddenPoints hidden = {};                      // tips and marks that organs hide from the scope
};

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Stores the frame; its spans are valid during the call only. Never waits and never throws; after a failure it does
  // nothing.
  virtual void append(const RecordedFrame& frame) = 0;
  // Returns true when recording has ended early; failure() gives the reason in one sentence.
  virtual bool failed() const noexcept = 0;
  virtual std::string failure() const = 0;
  // Sets how the run ends, which close() stores; Stopped without this call.
  virtual void set_ending(Ending ending) = 0;
  // Ends the recording. Throws RunError when a frame was not stored.
  virtual void close() = 0;
};
// Opens a sink for a session with this header. Throws InputError when that is not possible.
using OpenSink = std::function<std::unique_ptr<RecordSink>(const RecordingHeader&)>;

// Computes checksums of a recorded frame, by which a session that is computed again is compared with the first.

// Returns the checksum of what a compact recording lacks of a frame: of each organ the nodes, then point, normal, depth
// and time of each touch, then the pressures.
std::uint64_t checksum_of(const RecordedFrame& frame);

// The same, and then of each organ the ids of the touched faces.
std::uint64_t checksum_with_faces(const RecordedFrame& frame);

}  // namespace trocar
