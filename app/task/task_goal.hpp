// What the six kinds of task have in common: a goal is told of every frame, says how far it is, what to do next and
// what went wrong, and ends with figures that are judged. One small file for each kind; TaskRun holds one of them and
// adds what every kind has: time, force, zones. The formulas and their sources: docs/tasks.md. Units: metres, seconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/score/attempt.hpp"
#include "app/task/observation.hpp"
#include "app/task/task_run.hpp"
#include "app/task/task_scene.hpp"
#include "app/view/marks.hpp"

namespace trocar {

// What happened, in order. An event in a frame is the only thing of a task that allocates.
struct TaskLog {
  std::vector<TaskEvent> events;
  std::size_t errors = 0;

  void note(double time, std::string text) { events.push_back({time, false, std::move(text)}); }
  void error(double time, std::string text) {
    events.push_back({time, true, std::move(text)});
    ++errors;
  }
};

// The figures of a task: written anew every frame, in the same order, without allocating once they are there.
class PartList {
 public:
  void begin() { next_ = 0; }
  // `good` and `poor` are those of the first time.
  void add(const char* id, const char* label, const char* unit, double value, double good, double poor) {
    if (next_ == parts_.size()) parts_.push_back({id, label, unit, value, good, poor});
    parts_[next_++].value = value;
  }
  const std::vector<Metric>& parts() const { return parts_; }

 private:
  std::vector<Metric> parts_;
  std::size_t next_ = 0;
};

class TaskGoal {
 public:
  virtual ~TaskGoal() = default;
  virtual const std::vector<SurfaceMark>& marks() const = 0;
  // `dt`: s since the last frame, 0 in the first.
  virtual void step(const Observation& seen, double dt, TaskLog& log) = 0;
  virtual double progress() const = 0;  // 0 .. 1: done
  // Appends to the two lines of the feed.
  virtual void say(std::string& hint, std::string& warning) const = 0;
  // Figures that are judged, added.
  virtual void judge(PartList& parts) const = 0;
  virtual void draw(DrawnMarks& marks) const = 0;
};

// Errors: InputError naming an organ or an instrument that the stage does not have.
std::unique_ptr<TaskGoal> make_touch_targets(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_navigate_camera(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_follow_curve(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_lift_organ(const TaskScene& task, const TaskStage& stage);
std::unique_ptr<TaskGoal> make_burn_line(const TaskScene& task, const TaskStage& stage);

// Which organ or instrument a name means. Error: InputError.
std::uint32_t organ_of(const TaskStage& stage, const std::string& name);
std::size_t instrument_of(const TaskStage& stage, const std::string& name);
// The instrument of a task, or all where it names none.
std::vector<std::size_t> tools_of(const TaskScene& task, const TaskStage& stage);
// Places of a task as marks on the surfaces at rest. [place]
std::vector<SurfaceMark> marks_of(const TaskScene& task, const TaskStage& stage);

}  // namespace trocar
