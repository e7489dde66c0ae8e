// A session that somebody practises in: devices, task, recording and time, without panels. Until start() time stands
// still; from then on everything is recorded, until the task is finished or stop().
// Units: seconds.   Driven in tests/app/window_path_test.sh
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/session/igtl_publish.hpp"
#include "app/session/session_recorder.hpp"
#include "app/task/performer.hpp"
#include "app/task/session_observer.hpp"
#include "app/view/view.hpp"
#include "app/window/hands.hpp"
#include "app/window/screens.hpp"
#include "app/window/settings.hpp"
#include "app/window/stage_history.hpp"

namespace trocar {

struct PracticePlan {
  std::optional<Skill> performer;        // a scripted trainee shows the task; nothing: hands and devices
  std::string backend;                   // empty: the scene's
  bool check = true;                     // every frame with obb-refit
  std::string trainee;                   // part of the recording's name; empty: none
  std::filesystem::path folder = "out";  // for recordings
  std::optional<IgtlServerParams> igtl;  // frames go to OpenIGTLink clients as well
};

class Practice {
 public:
  // Loads meshes, makes tissues. Error: InputError for a file, a device or a backend that cannot be had.
  Practice(const Scene& scene, const PracticePlan& plan, GlContext& context);

  void start();  // Error: InputError when the recording cannot be written
  void pause() { phase_ = next(phase_, PhaseEvent::Pause); }
  void resume() { phase_ = next(phase_, PhaseEvent::Resume); }
  void stop();  // Error: RunError when not all of the recording could be written

  // Who answers from the next frame on; where this machine cannot, all stays as it is and the sentence that says why is
  // returned.
  std::string use_backend(const std::string& name);
  // The OBB tree instead of the session's own, and back.
  std::string switch_backend();

  // What failed since the last call, a sentence; empty: nothing did.
  std::string new_fault();
  // Why recording ended before the attempt did; the attempt goes on. Empty: it goes on as well.
  const std::string& recording_fault() const { return recording_fault_; }

  // One frame of the program: what is in the hand follows the mouse, and time passes, unless paused.
  void advance(const WindowInput* input, double elapsed, const WindowSettings& settings);
  void draw(const WindowSettings& settings, const glm::ivec2& size);

  Phase phase() const { return phase_; }
  const Scene& scene() const { return scene_; }
  const PracticePlan& plan() const { return plan_; }
  Session& session() { return session_; }
  const Session& session() const { return session_; }
  Hands& hands() { return hands_; }
  const Hands& hands() const { return hands_; }
  const StageHistory& history() const { return history_; }
  double frame_ms() const { return frame_ms_; }                          // smoothed, of the whole frame
  const std::filesystem::path& recording() const { return recording_; }  // empty before start()
  // Null where the scene has no task.
  const TaskRun* task() const { return task_ ? &*task_ : nullptr; }
  Quality quality() const { return keeper_.quality(); }

 private:
  std::unique_ptr<Device> make_device_of(const InstrumentScene& instrument);
  void begin_task();
  void lose_recording();
  void follow_task();

  Scene scene_;
  PracticePlan plan_;
  std::string own_backend_;
  Backends backends_;
  Hands hands_;
  std::optional<Performer> performer_;
  Session session_;
  std::optional<SessionRecorder> recorder_;
  std::optional<IgtlPublisher> publisher_;
  std::filesystem::path recording_;
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnMarks marks_;
  std::optional<TaskRun> task_;
  SessionObserver observer_;
  std::optional<View> view_;
  QualityKeeper keeper_;
  StageHistory history_;
  FaultTeller teller_;
  std::size_t shown_faults_ = 0;
  Phase phase_ = Phase::Ready;
  std::uint64_t frame_ = 0;
  double time_ = 0.0, frame_ms_ = 0.0, draw_ms_ = 0.0;
  std::string recording_fault_;
};

// folder/stem.ext, folder/stem-2.ext, ...: the first that is not there yet.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem,
                                const std::string& extension);
// What of a name may be part of a file's name: letters, digits, - and _.
std::string file_stem(const std::string& name);

}  // namespace trocar
