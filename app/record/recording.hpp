// Reads a recording back, finished or left behind by a killed process.   Layout: docs/file-formats.md
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/record/recorder.hpp"
#include "app/record/surface_history.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

class RecordingLock;

struct OrganRecording {
  std::string name;
  SurfaceHistory history;
  std::size_t nodes = 0;  // of its lattice
};

// One frame of one organ, owned.
struct OrganFrame {
  std::vector<glm::vec3> nodes;      // [node] m
  std::vector<Touch> touches;        // sorted by tool, then face: faces by id
  std::vector<float> pressure;       // [touch] Pa
  std::vector<std::uint32_t> first;  // [tool + 1]
  // Faces that tips touch, by id, sorted by tool, then face; nothing in older recordings.
  std::vector<FaceId> tip_ids;
  std::vector<std::uint32_t> tip_first;  // [tool + 1]
};

struct ClashRecording {
  float distance;   // m   between the surfaces, < 0: they collide
  glm::vec3 point;  // m   where
};

class Recording {
 public:
  // `lock`: the caller's, of this file. Error: InputError when the file is no recording, or holds no complete frame.
  explicit Recording(const std::filesystem::path& file, const RecordingLock* lock = nullptr);
  ~Recording();
  Recording(Recording&&) noexcept;

  bool has_tips() const;  // false: older than faces that tips touch
  bool clean() const;     // false: a killed process left it behind, or it is live
  bool live() const;      // a program was writing it when it was opened: these are the frames until then
  std::size_t frame_count() const;
  const std::vector<OrganRecording>& organs() const;
  const std::vector<std::string>& tools() const;
  const std::vector<double>& tool_radius() const;  // [tool] m
  const std::vector<std::string>& stages() const;
  std::string text(const std::string& attribute) const;  // "scene", "backend", "machine", ...
  ToolMode mode() const;
  Cover cover() const;

  const std::vector<double>& times() const;  // [frame] s, of the ticks
  // What scores read: the wall time of an attempt with live devices, the ticks' time of any other.
  ScoreClock clock() const;
  const std::vector<double>& score_times() const;  // [frame] s
  const std::vector<double>& wall_times() const;   // [frame] s; empty in older recordings
  // s  that the machine was too slow for, between two frames; 0 in older recordings
  double lost_time(std::size_t first, std::size_t last) const;
  ToolPose pose(std::size_t frame, std::size_t tool) const;
  // Where the tool came from; nothing in the first frame of a session.
  std::optional<ToolPose> pose_before(std::size_t frame, std::size_t tool) const;
  glm::dvec2 roll_grip(std::size_t frame, std::size_t tool) const;  // degrees; 0 closed .. 1 open
  glm::vec3 force(std::size_t frame, std::size_t tool) const;       // N
  bool energy(std::size_t frame, std::size_t tool) const;           // burns
  // m, of the tip inside an organ; 0 in none, and in older recordings.
  float tip_depth(std::size_t frame, std::size_t tool) const;
  ToolState state(std::size_t frame, std::size_t tool) const;  // good in older recordings
  // That answered, by name; in older recordings the one that the recording began with.
  std::string backend(std::size_t frame) const;
  TouchFault backend_fault(std::size_t frame) const;        // why in this frame another one stopped; none in older ones
  std::optional<ScopePose> scope(std::size_t frame) const;  // nothing in older recordings
  // Two tools near each other; nothing when they are not, or the recording is older than such.
  std::optional<ClashRecording> clash(std::size_t frame, std::size_t first, std::size_t second) const;
  float stage_ms(std::size_t frame, std::size_t stage) const;
  std::uint32_t disagreements(std::size_t frame) const;
  // As RecordedFrame::sample; nothing in older recordings.
  std::optional<std::array<std::uint32_t, 3>> sample(std::size_t frame) const;
  void read_frame(std::size_t frame, std::size_t organ, OrganFrame& out) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// What recover found and did.
struct RecoverResult {
  bool was_clean = false;
  std::size_t frames = 0;
  double seconds = 0.0;  // time of the last recovered frame
  std::size_t touches = 0;
};

// Rewrites a recording as a plain file in its place, up to its last complete frame. A clean file is left as it is. The
// new file is written beside it and takes its name when the disk has all of it; until then the recording is not
// touched. Errors: InputError when it is no recording, or a program is writing it; RunError when the new file could not
// be written.
RecoverResult recover_recording(const std::filesystem::path& file);

}  // namespace trocar
