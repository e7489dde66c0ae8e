// Reads a recording: a finished one, a live one, or one that a killed process left behind.
// Layout: docs/file
// Tested in tests/sim/recording/recorder_test.cpp, damaged_recording_test.cpp and recording_faults_test.cpp
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "sim/hdf5/recorded_history.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

class RecordingLock;

struct OrganRecording {
  std::string name;
  SurfaceHistory history;
  std::size_t nodes = 0;  // number of nodes of its lattice
};

// One frame of one organ; owns its data.
struct OrganFrame {
  std::vector<glm::vec3> nodes;      // [node] m
  std::vector<Touch> touches;        // sorted by tool, then face; faces are ids
  std::vector<float> pressure;       // [touch] Pa
  std::vector<std::uint32_t> first;  // [tool + 1]
  // The ids of the faces that tips touch, sorted by tool, then face.
  std::vector<FaceId> tip_ids;
  std::vector<std::uint32_t> tip_first;  // [tool + 1]
  std::vector<std::uint8_t> part;        // [touch] part of the tool, 0: its shaft
  std::vector<SurfaceDent> dents;        // of each part, then of each tool; empty: a recording without them
};

struct ClashRecording {
  float distance;   // m   between the surfaces, < 0: they collide
  glm::vec3 point;  // m   position
};

// A recording whose program ended before its first frame was complete.
struct NoFrames : InputError {
  using InputError::InputError;
};

// Which forms a caller of Recording can read: those with the nodes of every frame, or every form.
enum class FormsRead { WithNodes, All };

class Recording {
 public:
  // Opens a recording. `lock`: the caller's lock of this file, if it holds one. Throws InputError when the file is not
  // a recording, is damaged, has no complete frame, or has a form that the caller does not read.
  explicit Recording(const std::filesystem::path& file, const RecordingLock* lock = nullptr,
                     FormsRead forms = FormsRead::WithNodes);
  ~Recording();
  Recording(Recording&&) noexcept;

  bool clean() const;  // false: a killed process left it behind, or it is live
  bool live() const;   // a program was writing it when it was opened; later frames are missing
  RecordingForm form() const;
  int model_version() const;  // of the program that recorded it: deform/model_version.hpp
  std::size_t frame_count() const;
  const std::vector<OrganRecording>& organs() const;
  const std::vector<std::string>& tools() const;
  const std::vector<double>& tool_radius() const;  // [tool] m
  const std::vector<std::string>& stages() const;
  std::string text(const std::string& attribute) const;  // "scene", "backend", "machine", ...
  // Returns nothing when it is not known.
  std::optional<Activity> activity() const;
  const std::vector<std::string>& devices() const;  // names: [tool], then the scope's
  Ending ending() const;
  ToolMode mode() const;
  Cover cover() const;

  const std::vector<double>& times() const;  // [frame] s, simulated time
  // Returns the time that scores use: wall time for an attempt with live devices, otherwise simulated time.
  ScoreClock clock() const;
  const std::vector<double>& score_times() const;  // [frame] s
  const std::vector<double>& wall_times() const;   // [frame] s
  // Returns the simulated time, s, skipped between two frames because the machine was too slow.
  double lost_time(std::size_t first, std::size_t last) const;
  ToolPose pose(std::size_t frame, std::size_t tool) const;
  // Returns the pose in the previous frame; nothing in the first frame of a session.
  std::optional<ToolPose> pose_before(std::size_t frame, std::size_t tool) const;
  // Returns roll in degrees and grip in the frame before; those of `frame` when they are not recorded.
  glm::dvec2 roll_grip_before(std::size_t frame, std::size_t tool) const;
  glm::dvec2 roll_grip(std::size_t frame, std::size_t tool) const;  // roll in degrees; grip 0 closed .. 1 open
  glm::vec3 force(std::size_t frame, std::size_t tool) const;       // N, of the tissue on the tool
  Diathermy energy(std::size_t frame, std::size_t tool) const;
  std::uint32_t heats(std::size_t frame, std::size_t tool) const;  // bit k: the tool's hot metal acts on organ k
  float tip_depth(std::size_t frame, std::size_t tool) const;      // m, of the tip in an organ; 0 outside
  ToolState state(std::size_t frame, std::size_t tool) const;
  // Returns the name of the backend that answered.
  std::string backend(std::size_t frame) const;
  TouchFault backend_fault(std::size_t frame) const;  // why another backend stopped
  ScopePose scope(std::size_t frame) const;
  // Returns the distance of two tools near each other; nothing when they are not near.
  std::optional<ClashRecording> clash(std::size_t frame, std::size_t first, std::size_t second) const;
  HiddenPoints hidden(std::size_t frame) const;  // tips and marks that organs hid
  // With the poses, all the inputs of the session.
  RecordedHandle handle(std::size_t frame, std::size_t tool) const;
  double step_time(std::size_t frame) const;  // s  simulated duration of the frame
  float stage_ms(std::size_t frame, std::size_t stage) const;
  std::uint32_t disagreements(std::size_t frame) const;
  std::array<std::uint32_t, 3> sample(std::size_t frame) const;  // RecordedFrame::sample
  // Returns the connective tissue; no fibres when the session has none.
  const FibreHistory& fibres() const;
  // Returns the clips and the state of ducts and vessels; nothing when the session can have none.
  const ClipHistory& clips() const;
  // Returns the bleeding; nothing when nothing can bleed or spill in the session.
  const BleedingHistory& bleeding() const;
  // Reads a frame of an organ. Of a compact recording: the touched faces, their parts and those of the tips; the other
  // members are empty or zero. Not for several threads at once.
  void read_frame(std::size_t frame, std::size_t organ, OrganFrame& out) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// Result of recover_recording().
struct RecoverResult {
  bool was_clean = false;
  std::size_t frames = 0;
  double seconds = 0.0;  // time of the last recovered frame
  std::size_t touches = 0;
};

// Rewrites a recording under its name as a plain file, up to its last complete frame. Does not change a clean file.
// Writes a new file in the same folder and renames it when all data are on the disk; until then the recording does not
// change. Throws InputError when the file is not a recording of this format, or a program is writing it; RunError when
// the new file cannot be written.
RecoverResult recover_recording(const std::filesystem::path& file);

}  // namespace trocar
