// Implements the task "navigate the camera": the scope centres each target in its picture, at a close distance, and
// keeps it there. The camera head is held upright, so the horizon is always level and is not graded.
// Tested in tests/sim/task_run_test.cpp
#include <fmt/format.h>

#include <algorithm>

#include "geometry/elementary.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"

namespace trocar {
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
    if (there_ && !there) ++lost_, log.error(seen.time, fmt::format("lost target {}", done_ + 1));
    there_ = there;
    held_ = there ? held_ + dt : 0.0;
    if (there) offset_sum_ += offset_ * dt, offset_time_ += dt;
    if (!there || held_ < task_.hold) return;
    ++done_;
    held_ = 0.0, there_ = false;
    eye_.reach(), view_.reach();
    log.note(seen.time, fmt::format("target {} shown", done_));
  }

  double progress() const override {
    const double part = task_.hold > 0.0 ? 0.999 * std::min(held_ / task_.hold, 1.0) : 0.0;
    return done_ == marks_.size() ? 1.0 : (double(done_) + part) / double(marks_.size());
  }

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    if (there_) {
      fmt::format_to(to, "hold target {} of {}", done_ + 1, marks_.size());
    } else if (visible_ && centred_ && !near_) {
      fmt::format_to(to, "move closer to target {} of {}", done_ + 1, marks_.size());
    } else {
      fmt::format_to(to, "centre target {} of {}", done_ + 1, marks_.size());
    }
    if (too_near_) warning += "too close: the lens gets dirty";
    if (warning.empty() && !visible_) warning += hidden_ ? "an organ hides the target" : "the target is out of view";
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
    if (now && !too_near_) ++times_too_near_, log.error(seen.time, "the lens came too close");
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
