// What a replay shows of a recording: frames in the form that the view draws, and the task, scored in small steps, with
// its marks in every frame.   Units: metres, newtons.   Tested in tests/app/practice_test.cpp
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/view/view.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/scene/scene.hpp"
#include "sim/score/attempt.hpp"
#include "sim/task/observation.hpp"

namespace trocar {

// Keeps a task's marks of every frame of a recording, so that a replay shows them in any order. What does not change
// from one frame to the next is stored once.
class MarkTrack {
 public:
  // Appends the marks of the next frame.
  void add(const DrawnMarks& marks);
  std::size_t frames() const { return frames_.size(); }
  // Overwrites `marks` with those of a frame, valid until the next add(). After the last frame: those of the last; an
  // empty track has none.
  void get(std::size_t frame, DrawnMarks& marks) const;

 private:
  struct Range {
    std::size_t first = 0, count = 0;
    bool operator==(const Range&) const = default;
  };
  struct Path {
    Range points;
    float width = 0.f;
    std::size_t done = 0;
    MarkState state = MarkState::Waiting;
    bool operator==(const Path&) const = default;
  };
  struct Zone {
    Range outline;
    bool violated = false;
    bool operator==(const Zone&) const = default;
  };
  struct Frame {
    Range targets, paths, zones;
  };

  // Returns where a list is stored: `before` if it holds the same, otherwise the end of `all`, to which it is appended.
  template <typename T>
  static Range stored(std::span<const T> list, const Range& before, std::vector<T>& all);

  std::vector<Frame> frames_;
  std::vector<DrawnTarget> targets_;
  std::vector<Path> paths_;
  std::vector<Zone> zones_;
  std::vector<glm::vec3> points_;
  std::vector<glm::dvec2> corners_;
  std::vector<Path> paths_now_;  // of the frame that is added
  std::vector<Zone> zones_now_;
};

// Returns whether two sets of marks are equal, bit for bit.
bool same_marks(const DrawnMarks& a, const DrawnMarks& b);

// Reads frames of a recording on demand, in the form that the view draws: organs with the surface of that frame,
// instruments, touched faces, strands of connective tissue, clips, the scope. Charring is not recorded, so it is not
// shown.
class ReplayScene {
 public:
  // Throws InputError when the file is not a recording.
  explicit ReplayScene(const std::filesystem::path& file);

  const Recording& recording() const { return recording_; }
  // Returns the recorded scene; empty when this version cannot parse it.
  const Scene& scene() const { return scene_; }

  // Loads a frame. Any order is allowed; loading the current frame again costs nothing.
  void load(std::size_t frame);
  std::size_t frame() const { return frame_; }
  std::span<const DrawnOrgan> organs() const { return organs_; }
  std::span<const DrawnTool> tools() const { return tools_; }
  const DrawnBonds& bonds() const { return bonds_; }
  const ScopePose& scope() const { return pose_; }
  const Lens& lens() const { return scene_.scope.lens; }
  std::size_t touched(std::size_t organ, std::size_t tool) const;  // faces
  float pressure(std::size_t organ, std::size_t tool) const;       // Pa, the highest

 private:
  struct ShownOrgan {
    RecordedOrganFrames frames;
    std::vector<Touch> touches;  // faces as slots
    std::vector<FaceId> tip_faces;
    std::uint32_t topology = 0;
    bool reshaped = true;
  };

  void show_organ(std::size_t organ);
  void show_tools();
  void show_bonds();
  void show_film();

  Recording recording_;
  Scene scene_;
  std::vector<ShownOrgan> shown_;
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  RecordedFibres fibres_;
  std::vector<std::span<const glm::vec3>> nodes_;  // [organ]
  DrawnBonds bonds_;
  std::vector<MeshView> rests_;  // [organ] at rest
  ClipsNow clips_;
  RecordedFilm film_;
  std::vector<FilmedOrgan> filmed_;  // [organ]
  ScopePose pose_;
  std::size_t frame_ = static_cast<std::size_t>(-1);
};

// Returns the magnitude of the force on an instrument in every frame, N.
std::vector<float> force_of(const Recording& recording, std::size_t tool);

// The state of a task after a frame, as the trainee saw it.
struct TaskMoment {
  double progress = 0.0;   // 0..1
  double score = 0.0;      // 0..100, of what is done so far
  std::size_t errors = 0;  // so far
  std::size_t hint = 0;    // of TaskScan::hints()
};

// Scores a recording's task in small steps, so that the window stays responsive, and keeps its marks. The events equal
// those of score_task(), the marks those of the recorded session.
class TaskScan {
 public:
  // The recording must outlive the scan. Without a task, or with a task that does not fit the recording, work() returns
  // true at once.
  TaskScan(const Recording& recording, const Scene& scene);
  ~TaskScan();

  // Works for about `ms`. True when the task is scored completely.
  bool work(double ms);
  std::vector<TaskEvent> events() const;  // so far
  // Returns the result so far; empty without a task.
  std::optional<TaskResult> result() const;
  // Return the task's state after each frame so far, and what it asked for.
  const std::vector<TaskMoment>& moments() const;
  const std::vector<std::string>& hints() const;
  // Returns the task's marks of the frames so far, as the session showed them after each. After its end the task's
  // marks do not change.
  const MarkTrack& marks() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
