// Defines the common interface of the kinds of task: a goal receives every frame and reports progress, a hint, a
// warning and graded metrics. There is one file for each kind; TaskRun holds a goal and adds what all kinds share:
// time, force, zones. Formulas and sources: docs/tasks.md. Units: metres, seconds.   Tested in
// tests/sim/task/task_run_test.cpp
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "geometry/translate.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/score/attempt.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// Events in order of time. Adding an event is the only allocation of a task in a frame.
struct TaskLog {
  std::vector<TaskEvent> events;
  std::size_t errors = 0;
  bool ended = false;         // by a critical error
  bool capped = false;        // the score, by a critical error
  std::string critical_text;  // of the first critical error: the reason of the cap

  void note(double time, std::string text) { events.push_back({time, false, std::move(text)}); }
  void note_with_picture(double time, std::string text) { events.push_back({time, false, std::move(text), true}); }
  void error(double time, std::string text) {
    events.push_back({time, true, std::move(text)});
    ++errors;
  }
  // An error that caps the score of the task and ends it.
  void critical(double time, std::string text) {
    grave(time, std::move(text));
    ended = true;
  }
  // One that caps the score and lets the task go on: what follows can still be made good.
  void grave(double time, std::string text) {
    if (!capped) critical_text = text;
    error(time, trf("critical: {}", text));
    events.back().pictured = events.back().critical = true;
    capped = true;
  }
};

// The metrics of a task: rewritten every frame, in the same order; only the first frame allocates.
class PartList {
 public:
  void begin() { next_ = 0; }
  // Adds or rewrites a metric. `good` and `poor` of the first call are kept.
  void add(const char* id, const char* label, const char* unit, double value, double good, double poor) {
    if (next_ == parts_.size()) parts_.push_back({id, label, unit, value, good, poor});
    parts_[next_++].value = value;
  }
  const std::vector<Metric>& parts() const { return parts_; }

 private:
  std::vector<Metric> parts_;
  std::size_t next_ = 0;
};

// Returns the share of `needed` seconds that `held` seconds are, at most 1; nothing where none are needed.
inline std::optional<double> held_share(double held, double needed) {
  return needed > 0.0 ? std::optional(std::min(held / needed, 1.0)) : std::nullopt;
}

class TaskGoal {
 public:
  virtual ~TaskGoal() = default;
  virtual const std::vector<SurfaceMark>& marks() const = 0;
  // Observes the next frame. `dt`: s since the last frame, 0 in the first.
  virtual void step(const Observation& seen, double dt, TaskLog& log) = 0;
  virtual double progress() const = 0;  // 0 .. 1: done
  // Returns the number of the current step of a task that has steps.
  virtual std::optional<std::size_t> step_number() const { return std::nullopt; }
  // Returns the instrument that this step wants next; nothing: any.
  virtual std::optional<std::size_t> tool() const { return std::nullopt; }
  // Returns the share of the time for which something must be held and is held now; nothing: nothing is.
  virtual std::optional<double> hold() const { return std::nullopt; }
  // Appends to the hint and the warning of the feed.
  virtual void say(std::string& hint, std::string& warning) const = 0;
  // Adds the graded metrics.
  virtual void add_metrics(PartList& parts) const = 0;
  virtual void draw(DrawnMarks& marks) const = 0;
};

// Each function makes the goal of one kind of task. Throws InputError naming an organ or an instrument that the stage
// does not have.
std::unique_ptr<TaskGoal> make_touch_targets(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_navigate_camera(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_follow_curve(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_lift_organ(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_burn_line(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_clip_and_cut(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_operation(const TaskScene& task, const TaskStage& stage);

// Returns the index of the organ or instrument with this name. Throws InputError when there is none.
std::uint32_t organ_of(const TaskStage& stage, const std::string& name);
std::size_t instrument_of(const TaskStage& stage, const std::string& name);
// Returns the instrument of a task, or all where it names none.
std::vector<std::size_t> tools_of(const TaskScene& task, const TaskStage& stage);
// Returns the targets of a task as marks on the surfaces at rest. [target]
std::vector<SurfaceMark> marks_of(const TaskScene& task, const TaskStage& stage);

}  // namespace trocar
