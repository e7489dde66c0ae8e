// Writes a session to HDF5 as it happens. The frame thread only copies into memory; a writer thread of its own hands
// the copies to HDF5 and flushes at least twice a second, so a killed process loses less than a second (SWMR writing).
// When the disk takes no more, or the file is deleted, recording ends there and what was written stays readable.
// Units: metres, newtons, seconds, milliseconds for stage times.   Layout: docs/file-formats.md
// Tested in tests/app/recorder_test.cpp (kill -9 included) and tests/app/recording_faults_test.cpp
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/scope/scope.hpp"
#include "deform/tissue.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "geometry/touch_fault.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Which of a frame's times scores read: that of the ticks, or that of the person who was there.
enum class ScoreClock { Tick, Wall };

struct RecordedOrgan {
  std::string name;
  const TriangleMesh* mesh = nullptr;     // at rest, as it is when the recording begins
  const TissueModel* tissue = nullptr;    // its embedding gives every frame's surface from the nodes
  std::span<const FaceId> face_ids = {};  // [face of mesh] ascending; empty: 0, 1, ...
  std::uint32_t next_face = 0;            // id that the next new face will have; 0: the last of face_ids + 1
};

// What does not change during a session.
struct RecordingHeader {
  std::string scene_text, version, machine, gl, backend, mode, cover, date;
  double frame_rate = 60.0;  // Hz
  std::vector<RecordedOrgan> organs;
  std::vector<std::string> tools;   // names
  std::vector<double> tool_radius;  // [tool] m
  std::vector<std::string> tips;    // [tool] kind of its tip and how wide its jaws open, degrees: "grasper 60"
  std::vector<ToolPose> before;     // [tool] in the frame before the first; empty: the session begins here
  std::vector<std::string> stages;  // names of the stage times, in their order
  // Names of the backends that may answer; what RecordedFrame::backend counts. Empty: `backend` alone.
  std::vector<std::string> backends;
  ScoreClock clock = ScoreClock::Tick;
};

// How a surface changed within a frame, after the tools were asked about: counts from the next frame on. Where the
// surface changed several times, the lists follow each other in that order.
struct RecordedChange {
  std::span<const FaceId> gone = {};
  std::span<const glm::uvec3> new_faces = {};         // their ids follow on
  std::span<const glm::vec3> new_rest = {};           // [new vertex] m
  std::span<const Embedding> new_embedding = {};      // [new vertex]
  std::span<const std::uint32_t> carried = {};        // vertices that are embedded anew
  std::span<const Embedding> carried_embedding = {};  // [carried]
};

struct RecordedOrganFrame {
  std::span<const glm::vec3> nodes;               // [node] m, as they were when the tools were asked about
  TouchList touches;                              // faces are slots of face_ids
  std::span<const FaceId> face_ids = {};          // [slot] as they were then; empty: the touches name ids
  std::span<const float> pressure = {};           // [touch] Pa, what the tissue did there in this frame; empty: none
  const RecordedChange* change = nullptr;         // null: the surface stays as it is
  std::span<const FaceId> tip_ids = {};           // faces that tips touch, by id, sorted by tool, then face
  std::span<const std::uint32_t> tip_first = {};  // [tool + 1] where each tool's begin; empty: none touch
};

// How a tool did in a frame: it moved as its device said, or stayed where it was because the device gave no usable
// pose, was stale or lost.
enum class ToolState : std::uint8_t { Good, NoPose, Stale, Lost };

// Two tools near each other.
struct RecordedClash {
  std::uint32_t first, second;  // first < second
  float distance;               // m   between their surfaces, < 0: they collide
  glm::vec3 point;              // m   where
};

// One frame, borrowed.
struct RecordedFrame {
  double time = 0.0;                            // s
  std::span<const ToolPose> poses;              // [tool]
  std::span<const glm::dvec2> roll_grip;        // [tool] degrees; 0 closed .. 1 open
  std::span<const RecordedOrganFrame> organs;   // [organ]
  std::span<const glm::vec3> forces;            // [tool] N
  std::span<const float> stage_ms;              // [stage]
  std::uint32_t disagreements = 0;              // faces, when validated
  std::span<const std::uint8_t> energy = {};    // [tool] 1: burns in this frame; empty: none does
  std::span<const RecordedClash> clashes = {};  // of pairs of tools that are near each other, each once
  std::span<const float> tip_depth = {};        // [tool] m, of its tip inside an organ; 0: in none; empty: none is
  std::span<const ToolState> states = {};       // [tool]; empty: all good
  ScopePose scope = {};
  std::uint8_t backend = 0;             // that answered, by its place in RecordingHeader::backends
  TouchFault fault = TouchFault::None;  // why in this frame another backend stopped answering
  // Faces held against the double reference in this frame, of how many answers, and how many of them it gainsays.
  std::array<std::uint32_t, 3> sample = {};
  double wall = 0.0;  // s   FrameClock::wall
  double lost = 0.0;  // s   FrameClock::lost
};

struct RecorderParams {
  // bytes   frames that wait for the disk; with more, the disk is too slow and recording ends
  std::size_t most_waiting = std::size_t{512} << 20;
};

class Recorder {
 public:
  // Errors, which leave no file behind: InputError when the file cannot be written, RunError when the disk is full.
  Recorder(const std::filesystem::path& file, const RecordingHeader& header, const RecorderParams& params = {});
  // Closes, without a word about what went wrong.
  ~Recorder();

  // Copies the frame. Never blocks on the disk, never throws; allocates only until its buffers have their size. After a
  // failure it does nothing.
  void append(const RecordedFrame& frame);
  // Recording has ended, because the disk takes no more or the file was deleted: failure() says why, in one sentence.
  bool failed() const noexcept;
  std::string failure() const;
  // Writes what is left and ends with a plain file. Error: RunError when anything could not be written, or the file is
  // no longer where it was.
  void close();

 private:
  void begin(const RecordingHeader& header);
  void copy_frame(const RecordedFrame& frame);

  struct Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace trocar
