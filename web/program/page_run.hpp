// What the page shows: a practice of a task, or the replay of an attempt. Both run a session, its task and the checks
// of its answers; they differ in where the inputs come from. Units: seconds.   Tested in tests/web/page_test.mjs
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sim/device/mouse_device.hpp"
#include "sim/inputs/attempt_file.hpp"
#include "sim/inputs/input_rerun.hpp"
#include "sim/loop/live_measures.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/tick_clock.hpp"

namespace trocar {

enum class PagePhase : int { Ready, Running, Paused, Ended };

class PageRun {
 public:
  virtual ~PageRun() = default;
  PageRun(const PageRun&) = delete;
  PageRun& operator=(const PageRun&) = delete;

  void start();
  void pause();
  void resume();
  void finish();
  // Advances by the time since the last picture.
  virtual void advance(double elapsed, HandInput& input, const HandSettings& settings) = 0;

  PagePhase phase() const { return phase_; }
  const Scene& scene() const { return scene_; }
  const Session& session() const { return loop_->session(); }
  const TaskRun* task() const { return loop_->task(); }
  double time() const { return loop_->time(); }              // s  of the last tick
  double score_time() const { return loop_->score_time(); }  // s  of the last tick, on the clock of the score
  double lost() const { return lost_; }                      // s
  // Returns what a trainee reads first of the result.
  Attempt measures() const { return measures_.attempt(scene_, task()); }
  virtual MouseHands* hands() { return nullptr; }
  virtual std::optional<std::size_t> in_hand() const { return {}; }  // number of an instrument; one more: the scope
  virtual std::string attempt() const { return {}; }
  virtual bool replay() const { return false; }
  // Frames of a replay whose tissue or touched faces differ from the attempt.
  std::size_t differing() const { return differing_; }

 protected:
  explicit PageRun(Scene scene) : scene_(std::move(scene)) {}
  // Call when the loop is there.
  void begin() { loop_->record(with_sums(no_recording(), sums_), ""); }
  // Call after each frame of the loop.
  void note(const FrameClock& clock);
  const FrameSums& sums() const { return sums_; }
  virtual void interrupted() {}

  Scene scene_;
  CpuBackends backends_;
  std::optional<SessionLoop> loop_;  // made by the derived class
  std::size_t differing_ = 0;

 private:
  FrameSums sums_;
  LiveMeasures measures_;
  PagePhase phase_ = PagePhase::Ready;
  double lost_ = 0.0;
};

// Practice of a scene of the data folder. `file`: "scenes/tasks/burn_line.toml"; `shown`: by the scripted expert.
// Throws InputError.
std::unique_ptr<PageRun> make_practice(const std::string& file, int level, bool shown);

// Throws InputError for a text that is not an attempt or belongs to another version of the tissue model.
std::unique_ptr<PageRun> make_replay(const std::string& attempt);

}  // namespace trocar
