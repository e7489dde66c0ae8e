// Implements the task "touch the targets": the instrument's tip must touch each target in order, within the tolerance,
// for the hold time. Touching a later target is an error; the time of contact off target is graded. The keep-out task
// uses this goal too, because every kind of task watches the zones.   Tested in tests/sim/task_run_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"

namespace trocar {
namespace {

class TouchTargets final : public TaskGoal {
 public:
  TouchTargets(const TaskScene& task, const TaskStage& stage)
      : task_(task), marks_(marks_of(task, stage)), tools_(tools_of(task, stage)) {
    contacts_.resize(stage.organs.size() * tools_.size(), Lasting(kContactLasts));
    paths_.resize(tools_.size());
    targets_.resize(marks_.size());
    wrong_for_.resize(marks_.size());
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    std::copy(seen.marks.begin(), seen.marks.end(), targets_.begin());
    for (std::size_t k = 0; k < tools_.size(); ++k) {
      paths_[k].see(seen.tools[tools_[k]].pose.tip);
      for (std::size_t organ = 0; organ < seen.organs.size(); ++organ)
        contacts_[organ * tools_.size() + k].see(tip_touches(seen, organ, tools_[k]), seen.time);
    }
    watch_beside(seen, dt);
    watch_wrong(seen, dt, log);
    if (done_ == marks_.size()) return;
    there_ = on_target(seen, done_);
    held_ = there_ ? held_ + dt : 0.0;
    if (!there_ || held_ < task_.hold) return;
    ++done_;
    held_ = 0.0;
    log.note(seen.time, fmt::format("target {} reached", done_));
    for (PathMeter& path : paths_) path.reach();
  }

  double progress() const override {
    const double part = task_.hold > 0.0 ? 0.999 * std::min(held_ / task_.hold, 1.0) : 0.0;
    return done_ == marks_.size() ? 1.0 : (double(done_) + part) / double(marks_.size());
  }

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    if (done_ < marks_.size() && there_) fmt::format_to(to, "hold target {} of {}", done_ + 1, marks_.size());
    if (done_ < marks_.size() && !there_) fmt::format_to(to, "touch target {} of {}", done_ + 1, marks_.size());
    for (std::size_t k = 0; k < marks_.size(); ++k)
      if (wrong_for_[k] >= task_.rules.deliberate)
        fmt::format_to(std::back_inserter(warning), "this is target {}", k + 1);
    if (warning.empty() && beside_) warning += "touching off target";
  }

  void add_metrics(PartList& parts) const override {
    // The path around a zone is longer.
    const bool zones = !task_.zones.empty();
    double length = 0.0, direct = 0.0;
    for (const PathMeter& path : paths_) length += path.reached(), direct += path.direct();
    parts.add("task_detour", "Path-length ratio", "", ratio(length, direct), zones ? 3.0 : 1.8, zones ? 7.0 : 4.5);
    parts.add("task_wrong", "Wrong targets touched", "", double(wrong_), 0.0, 3.0);
    parts.add("task_beside", "Off-target contact time", "s", time_beside_, 0.5, 6.0);
  }

  void draw(DrawnMarks& marks) const override {
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      MarkState state = k < done_ ? MarkState::Done : k == done_ ? MarkState::Next : MarkState::Waiting;
      if (wrong_for_[k] >= task_.rules.deliberate) state = MarkState::Error;
      marks.targets.push_back({targets_[k], static_cast<float>(task_.tolerance), state, static_cast<int>(k) + 1});
    }
  }

 private:
  // Returns the distance of the tip from a target along the surface; infinite when the tip does not touch the target's
  // organ.
  double away(const Observation& seen, std::size_t k, std::size_t target) const {
    if (!contacts_[marks_[target].organ * tools_.size() + k].now()) return std::numeric_limits<double>::infinity();
    const ToolPose& pose = seen.tools[tools_[k]].pose;
    return beside(glm::distance(pose.tip, glm::dvec3(targets_[target])), pose.radius);
  }

  bool on_target(const Observation& seen, std::size_t target) const {
    for (std::size_t k = 0; k < tools_.size(); ++k)
      if (away(seen, k, target) <= task_.tolerance) return true;
    return false;
  }

  void watch_wrong(const Observation& seen, double dt, TaskLog& log) {
    for (std::size_t k = done_ + 1; k < marks_.size(); ++k) {
      const double before = wrong_for_[k];
      // If targets lie so close together that both are touched, the right one counts.
      const bool wrong = on_target(seen, k) && !there_;
      wrong_for_[k] = wrong ? before + dt : 0.0;
      if (before >= task_.rules.deliberate || wrong_for_[k] < task_.rules.deliberate) continue;
      ++wrong_;
      log.error(seen.time, fmt::format("touched target {} instead of {}", k + 1, done_ + 1));
    }
  }

  // Watches for contact away from the next target and from the targets already done.
  void watch_beside(const Observation& seen, double dt) {
    beside_ = false;
    for (std::size_t k = 0; k < tools_.size(); ++k) {
      bool any = false, near = false;
      for (std::size_t organ = 0; organ < seen.organs.size(); ++organ) any = any || touches(seen, organ, tools_[k]);
      for (std::size_t target = 0; target < std::min(done_ + 1, marks_.size()); ++target)
        near = near || away(seen, k, target) <= 1.5 * task_.tolerance;
      beside_ = beside_ || (any && !near);
    }
    if (beside_) time_beside_ += dt;
  }

  TaskScene task_;
  std::vector<SurfaceMark> marks_;
  std::vector<std::size_t> tools_;  // the instruments that count
  std::vector<Lasting> contacts_;   // [organ, tool of tools_]
  std::vector<PathMeter> paths_;    // [tool of tools_]
  std::vector<glm::vec3> targets_;  // [target] m
  std::vector<double> wrong_for_;   // [target] s
  std::size_t done_ = 0, wrong_ = 0;
  double held_ = 0.0, time_beside_ = 0.0;  // s
  bool there_ = false, beside_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_touch_targets(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<TouchTargets>(task, stage);
}

}  // namespace trocar
