// Runs a session frame by frame together with what belongs to it: the task, a scripted trainee, the recording, the log
// of the inputs, clients outside the process. Window, browser, Python, commands and the expert's ghost all run this
// loop; they hand it devices, backends, a sink and a publisher, and decide when the next frame is due.
// A frame, in this order:
//   1 enter     what the backends need is made ready: an OpenGL context
//   2 session   devices, touch query, checks, tissue (sim/session/session.hpp); with a log, the inputs are in it now
//   3 record    the frame goes to the sink
//   4 observe   the frame as tasks see it, at the time of the clock of the score
//   5 task      follows the frame
//   6 trainee   sees the frame and what the task says of it, and plans the next
//   7 publish   clients get the frame
//   8 leave     what was made ready is given back
// At the start: enter, trainee, session with its devices, the scope's device, task, marks, trainee's plan, leave.
// Units: seconds.   Tested in tests/sim/session/session_loop_test.cpp
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/inputs/input_rerun.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/session/session.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// A scripted trainee, who moves all instruments and the scope.
struct Trainee {
  HandStyle style;
  std::uint32_t seed = 1;
};

// Makes ready what backends need, for the time of a call, and gives it back; both may be empty. What enter() throws
// leaves the loop as it was. It does not throw when the loop ends.
struct BackendUse {
  std::function<void()> enter, leave;
};

struct LoopPlan {
  std::string backend = {};                             // empty: the scene's
  std::vector<CheckPlan> checks = {};                   // of the answers
  DeviceMaker device = {};                              // of each instrument, unless a trainee moves all
  std::function<std::unique_ptr<Device>()> scope = {};  // after those; empty: the scope does not move
  std::optional<Trainee> trainee = {};                  // for a scene with a task; others have none
  bool task = true;                                     // the scene's task is followed
  ScoreClock clock = ScoreClock::Tick;                  // of the task
  bool wall = false;                                    // clocks have wall times; otherwise the recording takes its own
  InputLog* log = nullptr;                              // gets the inputs; must outlive the loop
  BackendUse use = {};
};

class SessionLoop {
 public:
  // `scene` and `backends` must outlive the loop. Throws the errors of Session, and InputError for a task that does not
  // fit.
  SessionLoop(const Scene& scene, BackendMaker& backends, const LoopPlan& plan);
  // Follows a session that its owner steps (a log that is run again): call follow() after each frame.
  SessionLoop(const Scene& scene, Session& session, ScoreClock clock);
  ~SessionLoop();
  SessionLoop(const SessionLoop&) = delete;
  SessionLoop& operator=(const SessionLoop&) = delete;

  // Records from the next frame on. Throws the errors of `open`. `gl`: from gl_description().
  void record(const OpenSink& open, const std::string& gl, const RunNote& run = {});
  // `publish` gets the session after every frame of step(). It does not block.
  void set_publisher(std::function<void(const Session&)> publish) { publish_ = std::move(publish); }

  // Runs the next frame of the scene's rate, or one at this time with this duration. Nothing throws in a frame.
  void step();
  void step(const FrameClock& clock, double dt);
  // Does the same without 7, for a picture of several frames; publish() then sends the last.
  void tick(const FrameClock& clock, double dt);
  // tick() in three parts, for a loop without a log: another thread may run move_tissue() while this one draws what it
  // has copied, and leaves loop and session alone.
  void begin_tick(const FrameClock& clock, double dt);
  void move_tissue() { session_->move(); }
  void end_tick(const FrameClock& clock);
  void publish();
  // Does 3 to 6 for the frame that the owner of the session has made.
  void follow(const FrameClock& clock);

  // Call when time passes between two frames: a pause, a gap. A log has it with the next frame.
  void suspend_devices();
  // Restores a state of Session::save(); live devices are suspended and the task starts again. Throws InputError;
  // nothing has changed then.
  void restore(std::span<const std::byte> block);

  // Returns whether a recording is open, whether it ended early, and why.
  bool recording() const { return recorder_ != nullptr; }
  bool failed() const { return recorder_ && recorder_->failed(); }
  std::string failure() const { return recorder_ ? recorder_->failure() : ""; }
  // Ends the recording, if there is one, with the state of the task. Throws RunError when a frame was not stored.
  void close();
  // Ends a recording that failed.
  void drop_recording() { recorder_.reset(); }
  // In a forked process the threads of the recording do not exist, and its file belongs to the parent: gives up session
  // and recording without ending them.
  void abandon();

  const Scene& scene() const { return scene_; }
  Session& session() { return *session_; }
  const Session& session() const { return *session_; }
  const TaskRun* task() const { return task_ ? &*task_ : nullptr; }
  // Returns the last frame as the task saw it; null before the first, and without a task.
  const Observation* seen() const { return seen_; }
  double time() const { return time_; }              // s  of the last frame
  double score_time() const { return score_time_; }  // s  the same on the clock of the score
  double tick_length() const { return tick_; }       // s  of a frame of step()
  // Adds to the log what the last frame gave. Call only with a log.
  void log_sums(const FrameSums& sums) { logger_->set_sums(sums); }

 private:
  class Use;

  std::unique_ptr<Device> device_of(const InstrumentScene& instrument, const LoopPlan& plan);
  std::unique_ptr<Device> scope_device(const LoopPlan& plan);
  void begin_task();
  void append(const FrameClock& clock);
  void follow_task();

  const Scene& scene_;
  BackendUse use_;
  ScoreClock clock_;
  bool has_task_, wall_;
  double tick_;  // s
  std::optional<Performer> performer_;
  std::unique_ptr<Session> own_;  // null: another object owns it
  Session* session_ = nullptr;
  InputLog* log_ = nullptr;
  std::optional<InputLogger> logger_;
  std::optional<TaskRun> task_;
  SessionObserver observer_;
  std::unique_ptr<SessionRecorder> recorder_;
  std::function<void(const Session&)> publish_;
  const Observation* seen_ = nullptr;
  std::uint64_t frame_ = 0;
  double time_ = 0.0, score_time_ = 0.0;  // s
};

// A session in which a scripted trainee performs the task of a scene.
class PerformedSession : public SessionLoop {
 public:
  // The scene has a task.
  PerformedSession(const Scene& scene, const HandStyle& style, std::uint32_t seed, BackendMaker& backends,
                   const std::string& backend)
      : SessionLoop(scene, backends, {.backend = backend, .trainee = Trainee{style, seed}}) {}

  const TaskRun& task() const { return *SessionLoop::task(); }
  const Observation& seen() const { return *SessionLoop::seen(); }
};

}  // namespace trocar
