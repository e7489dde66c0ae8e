// Implements the task "touch the targets": the instrument's tip must touch each target in order, within the tolerance,
// for the hold time. Touching a later target is an error; the time of contact off target is graded. The keep-out task
// uses this goal too, because every kind of task watches the zones.   Tested in tests/sim/task/task_run_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "deform/contact/grasp.hpp"
#include "geometry/elementary.hpp"
#include "geometry/translate.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/watches.hpp"

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
    log.note(seen.time, trf("target {} reached", done_));
    for (PathMeter& path : paths_) path.reach();
  }

  double progress() const override {
    const double part = task_.hold > 0.0 ? 0.999 * std::min(held_ / task_.hold, 1.0) : 0.0;
    return done_ == marks_.size() ? 1.0 : (double(done_) + part) / double(marks_.size());
  }

  std::optional<double> hold() const override { return there_ ? held_share(held_, task_.hold) : std::nullopt; }

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    if (done_ < marks_.size() && there_)
      fmt::format_to(to, fmt::runtime(tr("hold target {} of {}")), done_ + 1, marks_.size());
    if (done_ < marks_.size() && !there_)
      fmt::format_to(to, fmt::runtime(tr("touch target {} of {}")), done_ + 1, marks_.size());
    for (std::size_t k = 0; k < marks_.size(); ++k)
      if (wrong_for_[k] >= task_.rules.deliberate)
        fmt::format_to(std::back_inserter(warning), fmt::runtime(tr("this is target {}")), k + 1);
    if (warning.empty() && beside_) warning += tr("touching off target");
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
      log.error(seen.time, trf("touched target {} instead of {}", k + 1, done_ + 1));
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

// Implements the task "grasp and lift": the jaws close on the target, lift it by `lift` and hold it for `hold`, without
// dropping or tearing it. An observation does not say what jaws hold: the target counts as held while the jaws are
// closed and it stays near the tip.   Tested in tests/sim/task/task_run_test.cpp

namespace {

// "Up" is the direction halfway between head and front; this is upwards in the picture of a scope inserted at the
// navel.
const glm::dvec3 kUp = glm::normalize(glm::dvec3(0.0, 1.0, 1.0));

class LiftOrgan final : public TaskGoal {
 public:
  LiftOrgan(const TaskScene& task, const TaskStage& stage)
      : task_(task), tool_(instrument_of(stage, task.instrument)), marks_(marks_of(task, stage)) {
    if (tool_ < stage.jaws.size()) jaws_ = stage.jaws[tool_];
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    target_ = seen.marks.front();
    if (!rest_) rest_ = glm::dvec3(target_);
    height_ = glm::dot(glm::dvec3(target_) - *rest_, kUp);
    highest_ = std::max(highest_, height_);
    contact_.see(tip_touches(seen, organ(), tool_), seen.time);
    move_jaws(seen, log);
    watch_tears(seen, log);
    if (done_) return;
    held_ = holding_ && height_ >= task_.lift ? held_ + dt : 0.0;
    if (holding_) {
      const double raised = std::clamp(height_ / task_.lift, 0.0, 1.0);
      const double held = task_.hold > 0.0 ? std::min(held_ / task_.hold, 1.0) : 0.0;
      farthest_ = std::max(farthest_, 0.2 + 0.6 * raised + 0.19 * held);
    }
    done_ = holding_ && height_ >= task_.lift && held_ >= task_.hold;
  }

  // Progress is the maximum so far: a drop does not reduce it.
  double progress() const override { return done_ ? 1.0 : farthest_; }

  std::optional<double> hold() const override {
    return holding_ && height_ >= task_.lift ? held_share(held_, task_.hold) : std::nullopt;
  }

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    if (!holding_) fmt::format_to(to, fmt::runtime(tr("open the jaws and grasp the target")));
    if (!holding_ && closed_)
      fmt::format_to(to, fmt::runtime(tr("; they are {:.0f} mm away from it")), from_tip_ * 1e3);
    if (holding_ && height_ < task_.lift)
      fmt::format_to(to, fmt::runtime(tr("lift it by {:.0f} mm more")), (task_.lift - height_) * 1e3);
    if (holding_ && height_ >= task_.lift) fmt::format_to(to, fmt::runtime(tr("hold it")));
    if (torn_now_) warning += tr("tissue torn");
  }

  void add_metrics(PartList& parts) const override {
    const double lift = task_.lift * 1e3;  // mm
    parts.add("task_grasps", "Grasps", "", double(grasps_), 1.0, 4.0);
    parts.add("task_grasps_beside", "Grasps off target", "", double(beside_), 0.0, 3.0);
    parts.add("task_drops", "Drops", "", double(drops_), 0.0, 2.0);
    parts.add("task_tears", "Tears", "", double(tears_), 0.0, 1.0);
    parts.add("task_highest", "Highest lift", "mm", highest_ * 1e3, lift + 8.0, 2.0 * lift + 16.0);
  }

  void draw(DrawnMarks& marks) const override {
    const MarkState state = torn_now_ ? MarkState::Error : holding_ ? MarkState::Done : MarkState::Next;
    marks.targets.push_back({target_, static_cast<float>(task_.tolerance), state});
  }

 private:
  std::size_t organ() const { return marks_.front().organ; }

  void move_jaws(const Observation& seen, TaskLog& log) {
    const double grip = seen.tools[tool_].grip;
    const double from_tip = glm::distance(glm::dvec3(target_), seen.tools[tool_].pose.tip);
    from_tip_ = from_tip;
    if (closed_ && grip > jaws_.open_above) {
      closed_ = false;
      let_go(seen.time, log);
    } else if (!closed_ && grip < jaws_.close_below) {
      // Jaws that have been closed from the start have not grasped anything.
      closed_ = true;
      if (opened_) grasp(from_tip, seen.tools[tool_].pose.radius, seen.time, log);
    }
    opened_ = opened_ || grip > jaws_.open_above;
    if (holding_ && from_tip > grasped_at_ + task_.rules.slipped) let_go(seen.time, log);
  }

  void grasp(double from_tip, double radius, double time, TaskLog& log) {
    if (!contact_.now()) return;
    ++grasps_;
    grasped_at_ = from_tip;
    holding_ = beside(from_tip, radius) <= task_.tolerance;
    if (holding_) {
      log.note(time, tr("grasped"));
    } else {
      ++beside_;
      log.error(time, tr("grasped off target"));
    }
  }

  void let_go(double time, TaskLog& log) {
    if (holding_ && height_ > task_.rules.lifted && !done_) {
      ++drops_;
      log.error(time, trf("dropped from {:.0f} mm", height_ * 1e3));
    }
    holding_ = false;
  }

  // Faces removed without diathermy are torn off.
  void watch_tears(const Observation& seen, TaskLog& log) {
    const bool energy = std::any_of(seen.tools.begin(), seen.tools.end(),
                                    [](const auto& tool) { return tool.energy != Diathermy::Off; });
    const bool torn = seen.organs[organ()].faces_removed > 0 && !energy;
    if (torn && !torn_now_) ++tears_, log.error(seen.time, tr("tissue torn"));
    torn_now_ = torn;
  }

  TaskScene task_;
  std::size_t tool_;
  std::vector<SurfaceMark> marks_;
  GraspParams jaws_;
  Lasting contact_{kContactLasts};
  std::optional<glm::dvec3> rest_;  // m   initial position of the target
  glm::vec3 target_{0.f};           // m
  double height_ = 0.0, highest_ = 0.0, held_ = 0.0, grasped_at_ = 0.0, farthest_ = 0.0,
         from_tip_ = 0.0;  // m
  std::size_t grasps_ = 0, beside_ = 0, drops_ = 0, tears_ = 0;
  bool closed_ = false, opened_ = false, holding_ = false, torn_now_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_lift_organ(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<LiftOrgan>(task, stage);
}

// Implements the task "navigate the camera": the scope centres each target in its picture, at a close distance, and
// keeps it there. The camera head is held upright, so the horizon is always level and is not graded.
// Tested in tests/sim/task/task_run_test.cpp

namespace {

class NavigateCamera final : public TaskGoal {
 public:
  NavigateCamera(const TaskScene& task, const TaskStage& stage)
      : task_(task), marks_(marks_of(task, stage)), targets_(marks_.size()) {}

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    std::copy(seen.marks.begin(), seen.marks.end(), targets_.begin());
    eye_.see(seen.scope.eye);
    view_.see(axes_of(seen.scope).forward);
    watch_distance(seen, log);
    if (done_ == marks_.size()) return;
    look(seen);
    const bool there = centred_ && near_ && !too_near_;
    if (there_ && !there) ++lost_, log.error(seen.time, trf("lost target {}", done_ + 1));
    there_ = there;
    held_ = there ? held_ + dt : 0.0;
    if (there) offset_sum_ += offset_ * dt, offset_time_ += dt;
    if (!there || held_ < task_.hold) return;
    ++done_;
    held_ = 0.0, there_ = false;
    eye_.reach(), view_.reach();
    log.note(seen.time, trf("target {} shown", done_));
  }

  double progress() const override {
    const double part = task_.hold > 0.0 ? 0.999 * std::min(held_ / task_.hold, 1.0) : 0.0;
    return done_ == marks_.size() ? 1.0 : (double(done_) + part) / double(marks_.size());
  }

  std::optional<double> hold() const override { return there_ ? held_share(held_, task_.hold) : std::nullopt; }

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    if (there_) {
      fmt::format_to(to, fmt::runtime(tr("hold target {} of {}")), done_ + 1, marks_.size());
    } else if (visible_ && centred_ && !near_) {
      fmt::format_to(to, fmt::runtime(tr("move closer to target {} of {}")), done_ + 1, marks_.size());
    } else {
      fmt::format_to(to, fmt::runtime(tr("centre target {} of {}")), done_ + 1, marks_.size());
    }
    if (too_near_) warning += tr("too close: the lens gets dirty");
    if (warning.empty() && !visible_)
      warning += hidden_ ? tr("an organ hides the target") : tr("the target is out of view");
  }

  void add_metrics(PartList& parts) const override {
    const double tolerance = task_.tolerance * 1e3;  // mm
    parts.add("task_detour", "Path-length ratio of the scope's tip", "", ratio(eye_.reached(), eye_.direct()), 1.2,
              3.0);
    parts.add("task_view_detour", "Path-length ratio of the view direction", "", ratio(view_.reached(), view_.direct()),
              1.2, 3.0);
    parts.add("task_offset", "Mean offset from the centre while shown", "mm", ratio(offset_sum_, offset_time_) * 1e3,
              0.4 * tolerance, tolerance);
    parts.add("task_lost", "Targets lost", "", double(lost_), 0.0, 4.0);
    parts.add("task_too_near", "Times too close", "", double(times_too_near_), 0.0, 2.0);
  }

  void draw(DrawnMarks& marks) const override {
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      const MarkState state = k < done_ ? MarkState::Done : k == done_ ? MarkState::Next : MarkState::Waiting;
      marks.targets.push_back({targets_[k], static_cast<float>(task_.tolerance), state, static_cast<int>(k) + 1});
    }
  }

 private:
  void look(const Observation& seen) {
    const glm::dvec3 target(targets_[done_]), forward = axes_of(seen.scope).forward, from_eye = target - seen.scope.eye;
    const double depth = glm::dot(from_eye, forward);
    hidden_ = seen.hidden.mark(done_);
    visible_ = !hidden_ && seen_point(seen.scope, seen.lens, target).visible;
    offset_ = glm::length(from_eye - depth * forward);
    centred_ = visible_ && offset_ <= task_.tolerance;
    const double half_height =
        depth * elementary::tan(glm::radians(0.5 * seen.scope.field_of_view_deg));  // m, of the view at this depth
    near_ = depth > 0.0 && task_.tolerance >= task_.rules.readable * half_height;
  }

  void watch_distance(const Observation& seen, TaskLog& log) {
    const auto near = [&](const glm::vec3& target) {
      return glm::distance(glm::dvec3(target), seen.scope.eye) < task_.rules.too_near;
    };
    const bool now = std::any_of(targets_.begin(), targets_.end(), near);
    if (now && !too_near_) ++times_too_near_, log.error(seen.time, tr("the lens came too close"));
    too_near_ = now;
  }

  TaskScene task_;
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> targets_;  // [target] m
  PathMeter eye_, view_;
  std::size_t done_ = 0, lost_ = 0, times_too_near_ = 0;
  double held_ = 0.0, offset_ = 0.0, offset_sum_ = 0.0, offset_time_ = 0.0;  // s, m, m s, s
  bool visible_ = false, hidden_ = false, centred_ = false, near_ = false, there_ = false, too_near_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_navigate_camera(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<NavigateCamera>(task, stage);
}

}  // namespace trocar
