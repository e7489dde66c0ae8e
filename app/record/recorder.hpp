// Writes a session to HDF5 while it runs. The frame thread only copies into memory; a writer thread passes the copies
// to HDF5 and flushes at least twice a second (SWMR writing), so a killed process loses less than a second. When the
// disk is full or the file is deleted, recording ends; unless the file was deleted, the frames written so far stay
// readable. Units: metres, newtons, seconds, milliseconds for stage times.   Layout: docs/file-formats.md
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

// The time that scores use: the simulated time of the ticks, or the wall time of a live attempt.
enum class ScoreClock { Tick, Wall };

struct RecordedOrgan {
  std::string name;
  const TriangleMesh* mesh = nullptr;     // rest shape when the recording begins
  const TissueModel* tissue = nullptr;    // its embedding computes the surface of every frame from the nodes
  std::span<const FaceId> face_ids = {};  // [face of mesh] ascending; empty: 0, 1, ...
  std::uint32_t next_face = 0;            // id of the next new face; 0: the last of face_ids + 1
};

// The data that do not change during a session.
struct RecordingHeader {
  std::string scene_text, version, machine, gl, backend, mode, cover, date;
  double frame_rate = 60.0;  // Hz
  std::vector<RecordedOrgan> organs;
  std::vector<std::string> tools;   // names
  std::vector<double> tool_radius;  // [tool] m
  std::vector<std::string> tips;    // [tool] kind of its tip and largest aperture of its jaws, degrees: "grasper 60"
  std::vector<ToolPose> before;     // [tool] pose in the frame before the first; empty: the session begins here
  std::vector<std::string> stages;  // names of the stage times, in their order
  // Names of the backends that may answer, indexed by RecordedFrame::backend. Empty: `backend` alone.
  std::vector<std::string> backends;
  ScoreClock clock = ScoreClock::Tick;
};

// The changes of a surface within a frame, after the touch query: they take effect in the next frame. If the surface
// changed several times, the lists are concatenated in that order.
struct RecordedChange {
  std::span<const FaceId> gone = {};                  // ids of the removed faces
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
};

// State of a tool in a frame: it followed its device, or it was frozen because the device gave no usable pose, was
// stale or lost.
enum class ToolState : std::uint8_t { Good, NoPose, Stale, Lost };

// Two tools near each other.
struct RecordedClash {
  std::uint32_t first, second;  // first < second
  float distance;               // m   between their surfaces, < 0: they collide
  glm::vec3 point;              // m   position
};

// One frame; its spans must be valid during append().
struct RecordedFrame {
  double time = 0.0;                            // s
  std::span<const ToolPose> poses;              // [tool]
  std::span<const glm::dvec2> roll_grip;        // [tool] roll in degrees; grip 0 closed .. 1 open
  std::span<const RecordedOrganFrame> organs;   // [organ]
  std::span<const glm::vec3> forces;            // [tool] N
  std::span<const float> stage_ms;              // [stage]
  std::uint32_t disagreements = 0;              // faces on which the checks disagree
  std::span<const std::uint8_t> energy = {};    // [tool] 1: it burns in this frame; empty: no tool burns
  std::span<const RecordedClash> clashes = {};  // pairs of tools that are near each other, each once
  std::span<const float> tip_depth = {};        // [tool] m, depth of its tip in an organ; 0: outside; empty: all 0
  std::span<const ToolState> states = {};       // [tool]; empty: all good
  ScopePose scope = {};
  std::uint8_t backend = 0;             // the backend that answered: index into RecordingHeader::backends
  TouchFault fault = TouchFault::None;  // the fault that ended another backend in this frame
  // Faces compared with the double-precision reference in this frame, number of answers from which they were sampled,
  // and number of faces on which the reference disagrees.
  std::array<std::uint32_t, 3> sample = {};
  double wall = 0.0;  // s   FrameClock::wall
  double lost = 0.0;  // s   FrameClock::lost
};

struct RecorderParams {
  // bytes   limit for frames that wait to be written; beyond it the disk is too slow and recording ends
  std::size_t most_waiting = std::size_t{512} << 20;
};

class Recorder {
 public:
  // Errors: InputError when the file cannot be written, RunError when the disk is full. An error leaves no new file.
  Recorder(const std::filesystem::path& file, const RecordingHeader& header, const RecorderParams& params = {});
  // Closes the file and ignores errors; call close() to get them.
  ~Recorder();

  // Copies the frame. Never waits for the disk and never throws; allocates only while its buffers grow. After a failure
  // it does nothing.
  void append(const RecordedFrame& frame);
  // True when recording has ended early, for example because the disk is full or the file was deleted; failure() gives
  // the reason in one sentence.
  bool failed() const noexcept;
  std::string failure() const;
  // Writes the remaining frames and closes the file, which is then a plain HDF5 file. Error: RunError when a write
  // failed or the file was moved.
  void close();

 private:
  void begin(const RecordingHeader& header);
  void copy_frame(const RecordedFrame& frame);

  struct Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace trocar
