// Implements the task "grasp and lift": the jaws close on the target, lift it by `lift` and hold it for `hold`, without
// dropping or tearing it. An observation does not say what jaws hold: the target counts as held while the jaws are
// closed and it stays near the tip.   Tested in tests/sim/task_run_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "deform/contact/grasp.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"

namespace trocar {
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

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    if (!holding_) fmt::format_to(to, "open the jaws and grasp the target");
    if (holding_ && height_ < task_.lift) fmt::format_to(to, "lift it by {:.0f} mm more", (task_.lift - height_) * 1e3);
    if (holding_ && height_ >= task_.lift) fmt::format_to(to, "hold it");
    if (torn_now_) warning += "tissue torn";
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
      log.note(time, "grasped");
    } else {
      ++beside_;
      log.error(time, "grasped off target");
    }
  }

  void let_go(double time, TaskLog& log) {
    if (holding_ && height_ > task_.rules.lifted && !done_) {
      ++drops_;
      log.error(time, fmt::format("dropped from {:.0f} mm", height_ * 1e3));
    }
    holding_ = false;
  }

  // Faces removed without diathermy are torn off.
  void watch_tears(const Observation& seen, TaskLog& log) {
    const bool energy = std::any_of(seen.tools.begin(), seen.tools.end(),
                                    [](const auto& tool) { return tool.energy != Diathermy::Off; });
    const bool torn = seen.organs[organ()].faces_removed > 0 && !energy;
    if (torn && !torn_now_) ++tears_, log.error(seen.time, "tissue torn");
    torn_now_ = torn;
  }

  TaskScene task_;
  std::size_t tool_;
  std::vector<SurfaceMark> marks_;
  GraspParams jaws_;
  Lasting contact_{kContactLasts};
  std::optional<glm::dvec3> rest_;  // m   initial position of the target
  glm::vec3 target_{0.f};           // m
  double height_ = 0.0, highest_ = 0.0, held_ = 0.0, grasped_at_ = 0.0, farthest_ = 0.0;
  std::size_t grasps_ = 0, beside_ = 0, drops_ = 0, tears_ = 0;
  bool closed_ = false, opened_ = false, holding_ = false, torn_now_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_lift_organ(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<LiftOrgan>(task, stage);
}

}  // namespace trocar
