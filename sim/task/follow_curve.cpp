// Implements the task "follow a curve": the tip follows a line on the organ, in contact, point after point. The goal
// measures the distance of the contact from the line, how often the contact left the line's width, and how often it was
// lost.
// Tested in tests/sim/task_run_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"
#include "sim/task/tissue_line.hpp"

namespace trocar {
namespace {

// Only this many steps before and after the next point are searched, so that a self-crossing line offers no short cut.
constexpr std::size_t kAround = 6;

class FollowCurve final : public TaskGoal {
 public:
  FollowCurve(const TaskScene& task, const TaskStage& stage)
      : task_(task),
        line_(task, stage),
        tools_(tools_of(task, stage)),
        contacts_(tools_.size(), Lasting(kContactLasts)) {}

  const std::vector<SurfaceMark>& marks() const override { return line_.marks(); }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    line_.follow(seen.marks);
    const auto tool = tool_in_contact(seen);
    if (tool) advance(seen.tools[*tool].pose, seen.time, log);
    if (begun() && !done()) watch(seen, tool, dt, log);
    in_contact_ = tool.has_value();
  }

  double progress() const override { return double(next_) / double(line_.marks().size()); }

  void say(std::string& hint, std::string& warning) const override {
    if (!begun()) {
      hint += "touch the start of the line";
    } else {
      fmt::format_to(std::back_inserter(hint), "follow the line, {:.0f} % done", 100.0 * progress());
    }
    if (!begun() || done()) return;
    if (!in_contact_) {
      warning += "contact lost";
    } else if (off_.now() && deviation_ > task_.tolerance) {
      fmt::format_to(std::back_inserter(warning), "{:.1f} mm off the line", deviation_ * 1e3);
    }
  }

  void add_metrics(PartList& parts) const override {
    const double tolerance = task_.tolerance * 1e3;  // mm
    parts.add("task_deviation", "Mean deviation from the line", "mm", ratio(sum_, time_) * 1e3, 0.25 * tolerance,
              tolerance);
    parts.add("task_worst_deviation", "Largest deviation from the line", "mm", worst_ * 1e3, tolerance,
              3.0 * tolerance);
    parts.add("task_lost_contact", "Times contact was lost", "", double(lost_), 0.0, 4.0);
  }

  void draw(DrawnMarks& marks) const override {
    const MarkState state = off_.now() ? MarkState::Error : done() ? MarkState::Done : MarkState::Next;
    marks.paths.push_back({line_.points(), static_cast<float>(2.0 * task_.tolerance), next_, state});
    if (!done()) marks.targets.push_back({line_.points()[next_], static_cast<float>(task_.tolerance), MarkState::Next});
  }

 private:
  bool begun() const { return next_ > 0; }
  bool done() const { return next_ == line_.marks().size(); }

  // Returns the instrument in contact. If several count, it is the one nearest to the next point of the line.
  std::optional<std::size_t> tool_in_contact(const Observation& seen) {
    const glm::dvec3 goal(line_.points()[std::min(next_, line_.steps())]);
    std::optional<std::size_t> nearest;
    for (std::size_t k = 0; k < tools_.size(); ++k) {
      contacts_[k].see(tip_touches(seen, line_.organ(), tools_[k]), seen.time);
      if (!contacts_[k].now()) continue;
      const auto away = [&](std::size_t tool) { return glm::distance(seen.tools[tool].pose.tip, goal); };
      if (!nearest || away(tools_[k]) < away(*nearest)) nearest = tools_[k];
    }
    return nearest;
  }

  void advance(const ToolPose& pose, double time, TaskLog& log) {
    const bool before = begun();
    while (!done()) {
      const double distance = glm::distance(pose.tip, glm::dvec3(line_.points()[next_]));
      if (beside(distance, pose.radius) > task_.tolerance) break;
      ++next_;
    }
    if (begun() && !before) log.note(time, "on the line");
  }

  // Only a touching tip has a deviation, not one that has just lost contact.
  void watch(const Observation& seen, const std::optional<std::size_t>& tool, double dt, TaskLog& log) {
    if (!tool && in_contact_) ++lost_, log.error(seen.time, "contact lost");
    if (!tool || !tip_touches(seen, line_.organ(), *tool)) {
      off_.see(false, seen.time);
      return;
    }
    const ToolPose& pose = seen.tools[*tool].pose;
    const std::size_t first = next_ > kAround ? next_ - kAround : 0;
    deviation_ = beside(line_.nearest(pose.tip, first, next_ + kAround).away, pose.radius);
    sum_ += deviation_ * dt, time_ += dt;
    worst_ = std::max(worst_, deviation_);
    if (off_.see(deviation_ > task_.tolerance, seen.time)) log.error(seen.time, "left the line");
  }

  TaskScene task_;
  TissueLine line_;
  std::vector<std::size_t> tools_;  // the instruments that count
  std::vector<Lasting> contacts_;   // [tool of tools_]
  std::size_t next_ = 0, lost_ = 0;
  double deviation_ = 0.0, worst_ = 0.0, sum_ = 0.0, time_ = 0.0;  // m, m, m s, s
  Lasting off_{kErrorLasts};
  bool in_contact_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_follow_curve(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<FollowCurve>(task, stage);
}

}  // namespace trocar
