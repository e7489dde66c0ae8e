// Runs a practice session: devices, task, recording and time, without picture and panels. Time runs and everything is
// recorded from start() until the task is finished or stop() is called. Time stops while the session is paused or
// covered by a panel.
// Each picture runs the ticks that are due (TickClock), and they may run beside its drawing, which then shows ticks
// before them: what a hand does is in the ticks of the same picture, and the next two pictures show it. Attempts with
// live devices are scored by the trainee's wall time, demonstrations and scripts by tick time. Units: seconds.   Tested
// in tests/app/practice_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/lab/lab_station.hpp"
#include "app/window/input/hands.hpp"
#include "app/window/practice/camera.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/screen.hpp"
#include "app/window/settings.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/score/lost_time.hpp"
#include "sim/session/tick_clock.hpp"
#include "sim/support/task.hpp"

namespace trocar {

struct PracticePlan {
  std::optional<Skill> performer;        // a scripted trainee does the task; empty: the scene's devices
  std::string backend;                   // empty: the scene's
  bool check = true;                     // by obb-refit, in every picture with enough time
  std::string trainee;                   // id of the person, if the run is an attempt; empty: not known
  std::filesystem::path folder = "out";  // for recordings
  std::optional<IgtlServerParams> igtl;  // frames go to OpenIGTLink clients as well
  const LabStation* station = nullptr;   // keeps the attempts of a named person; null: nowhere
  bool shown = false;                    // a demonstration before the trainee's attempt: it is not recorded
  bool lesson = false;                   // the first lesson: it is not recorded and has no score
};

class Practice {
 public:
  // Loads meshes, makes tissues. `context`: the window's; null: without one. Throws InputError for an unreadable file,
  // or for a device or backend that is not available.
  Practice(const Scene& scene, const PracticePlan& plan, GlContext* context);

  void start();  // Throws InputError when the recording cannot be written
  void pause() { phase_ = next(phase_, PhaseEvent::Pause); }
  void resume() { phase_ = next(phase_, PhaseEvent::Resume); }
  // Ends the session and closes its recording. What could not be written is recording_fault().
  void stop();
  // Call when a panel (help, settings) covers the picture or is closed: time stops while the picture is covered.
  void cover(bool covered) { covered_ = covered; }
  // Returns whether time runs and the mouse moves the selected instrument.
  bool running() const { return phase_ == Phase::Running && !covered_; }

  // Makes queries with a backend that needs the window's thread, for a practice that another thread has made. `name`:
  // empty: the scene's. Throws InputError when it is not available.
  void take_backend(const std::string& name);
  // Replaces the collision backend from the next frame on and returns a message. On failure nothing changes and the
  // message says why.
  std::string use_backend(const std::string& name);
  // Switches to the OBB tree, or back to the session's own backend.
  std::string switch_backend();

  // Returns a fault since the last call, as a sentence; empty: none.
  std::string new_fault();
  // Returns whether frames are being recorded.
  bool recorded() const { return phase_ != Phase::Ready && loop_.recording(); }
  // Returns why recording ended before the attempt did (the attempt continues) or at its end; an empty text: every
  // frame was recorded until now.
  const std::string& recording_fault() const { return recording_fault_; }

  // Advances to the next picture, `elapsed` s after the last: moves the selected instrument by the mouse and runs the
  // due ticks. Pauses when the window loses the focus.
  void advance(const WindowInput& input, double elapsed, const WindowSettings& settings);
  // Gets what has been drawn of a session after a tick. Called between begin_ticks() and settle(), at most twice,
  // perhaps by another thread.
  using Keep = std::function<void(const Session& session, std::uint64_t tick, double time)>;
  // Lets advance() leave the ticks of a picture to begin_ticks().
  void draw_beside(Keep keep) { keep_ = std::move(keep); }
  // Runs the ticks of the picture beside what the caller does until settle(). Where a backend or a gamepad belongs to
  // the window's thread, only the tissue of the newest tick. Meanwhile only phase() and what concerns the recording may
  // be called.
  void begin_ticks();
  // Waits for these ticks, and runs them if they have not begun.
  void settle();
  // Receives the time that drawing the picture took.
  void note_drawing(double ms) { draw_ms_ = ms; }

  Phase phase() const { return phase_; }
  const Scene& scene() const { return scene_; }
  const PracticePlan& plan() const { return plan_; }
  Session& session() { return settled().session(); }
  const Session& session() const { return settled().session(); }
  Hands& hands() { return hands_; }
  const Hands& hands() const { return hands_; }
  const StageHistory& history() const { return history_; }
  double frame_ms() const { return frame_ms_; }  // smoothed, of the whole picture
  double time() const { return loop_.time(); }   // s  of the ticks
  // Returns the time that a picture shows, on the scale of the ticks' numbers: half a tick before the picture before
  // it, whose ticks have all ended.
  double shown() const { return shown_; }
  double lost() const { return clock_.lost(); }  // s  lost because the machine was too slow
  // Begins to wipe the lens of the scope.
  void wipe_lens() { care_.wipe(); }
  // Returns what lens and camera head do to the picture.
  LensLook lens_look() const;
  // Returns whether an assistant holds the scope. Without a device that hands can move there is none, nor in a task of
  // the camera.
  bool has_assistant() const { return assistant_.has_value(); }
  // Returns whether so much was lost that the attempt does not count. A demonstration runs in tick time.
  bool is_slow() const { return activity_ == Activity::Attempt && !plan_.lesson && lost_time_.is_much(); }
  const std::filesystem::path& recording() const { return recording_; }  // empty before start()
  Activity activity() const { return activity_; }
  // Returns null where the scene has no task.
  const TaskRun* task() const { return settled().task(); }

 private:
  struct DueTick {
    FrameClock clock;
    bool check_room = false;
  };
  // The loop, which another thread uses between begin_ticks() and settle().
  SessionLoop& settled();
  const SessionLoop& settled() const;
  LoopPlan loop_plan();
  void lose_recording();
  void stand_still();
  void hold_camera(const WindowInput& input, double elapsed, const WindowSettings& settings);
  ScopeAxes picture_axes() const;
  bool may_run_apart() const;
  void run_ticks(std::size_t from, std::size_t end);
  void ask_tick(const DueTick& due);
  void end_tick(const DueTick& due);

  Scene scene_;
  PracticePlan plan_;
  std::string own_backend_;
  Backends backends_;
  Hands hands_;
  CameraBy camera_ = CameraBy::Trainee;  // as of the last picture
  std::optional<CameraAssistant> assistant_;
  LensCare care_;
  Activity activity_;
  ScoreClock score_clock_;
  TickClock clock_;
  LostTime lost_time_;
  CheckBudget budget_;
  std::optional<IgtlPublisher> publisher_;
  SessionLoop loop_;
  std::filesystem::path recording_;
  StageHistory history_;
  FaultTeller teller_;
  std::size_t shown_faults_ = 0;
  Phase phase_ = Phase::Ready;
  bool covered_ = false, still_ = true;
  double frame_ms_ = 0.0, draw_ms_ = 0.0, step_ms_ = 0.0;  // step_ms_: ticks of the last picture without checks
  double beside_ms_ = 0.0, elapsed_ms_ = 0.0;              // of step_ms_, beside the drawing; length of the picture
  double shown_ = 0.0;                                     // ticks
  std::string recording_fault_;
  Keep keep_;                 // empty: advance() runs the ticks
  std::vector<DueTick> due_;  // ticks of the picture that have not ended
  std::size_t apart_ = 0;     // of these, the first that ends in settle()
  bool begun_ = false;        // begin_ticks() was called
  bool task_ended_ = false;
  SideThread beside_;  // the last member: what its work uses ends after it
};

// Returns the first of folder/stem.ext, folder/stem-2.ext, ... that does not exist.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem,
                                const std::string& extension);
// Returns a name reduced to letters, digits, - and _, spaces as -, at most 60 characters.
std::string file_stem(const std::string& name);

}  // namespace trocar
