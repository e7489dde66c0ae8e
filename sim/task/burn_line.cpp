// Implements the task "burn along a line": the hook, with diathermy on, follows the line and burns it within its width.
// A point of the line is burnt when its tissue was removed, by whatever means, or when the hook removed tissue within
// the line's width of it: so every line can be finished. The goal measures the share of the line that is burnt, the
// length burnt off the line, the distance burnt beyond its ends, and diathermy without contact. Tested in
// tests/sim/task_run_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"
#include "sim/task/tissue_line.hpp"

namespace trocar {
namespace {

class BurnLine final : public TaskGoal {
 public:
  BurnLine(const TaskScene& task, const TaskStage& stage)
      : task_(task), line_(task, stage), organs_(stage.organs), tools_(tools_of(task, stage)) {
    burnt_.resize(line_.marks().size());
    touching_.resize(tools_.size(), Lasting(task_.rules.off_tissue_after));
    wrong_organ_.resize(organs_.size(), Lasting(kErrorLasts));
  }

  const std::vector<SurfaceMark>& marks() const override { return line_.marks(); }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    line_.follow(seen.marks);
    removing_.see(seen.organs[line_.organ()].faces_removed > 0, seen.time);
    for (std::size_t k = 0; k < burnt_.size() && k < seen.marks_removed.size(); ++k)
      if (seen.marks_removed[k]) burnt_[k] = 1;
    bool hot = false, off = false;
    for (std::size_t k = 0; k < tools_.size(); ++k) {
      const SeenTool& tool = seen.tools[tools_[k]];
      touching_[k].see(touches_any(seen, tools_[k]) || tool.heats != 0, seen.time);
      if (tool.energy == Diathermy::Off) continue;
      hot = true;
      if (!touching_[k].now()) in_air_ += dt;
      off = burn_with(seen, tools_[k], log) || off;
    }
    off_now_ = off;
    off_.see(off, seen.time);
    if (!off) last_off_.reset();
    done_ = done_ || (!hot && share() >= task_.rules.enough);
  }

  double progress() const override { return done_ ? 1.0 : 0.999 * std::min(share() / task_.rules.enough, 1.0); }

  void say(std::string& hint, std::string& warning) const override {
    if (share() >= task_.rules.enough) {
      hint += "diathermy off";
    } else {
      fmt::format_to(std::back_inserter(hint), "burn along the line, {:.0f} % burnt", 100.0 * share());
    }
    if (off_now_) fmt::format_to(std::back_inserter(warning), "burning {:.1f} mm off the line", away_ * 1e3);
  }

  void add_metrics(PartList& parts) const override {
    const double width = 2e3 * task_.tolerance;  // mm
    parts.add("task_burnt", "Share of the line burnt", "%", 100.0 * share(), 100.0 * task_.rules.enough, 40.0);
    parts.add("task_burnt_beside", "Length burnt off the line", "mm", beside_ * 1e3, 0.0, 2.0 * width);
    parts.add("task_overshoot", "Burnt beyond the line's ends", "mm", overshoot_ * 1e3, 0.5 * width, 2.0 * width);
    parts.add("task_energy_in_air", "Diathermy time without contact", "s", in_air_, 0.5, 5.0);
  }

  void draw(DrawnMarks& marks) const override {
    const auto first = std::find(burnt_.begin(), burnt_.end(), 0);
    const MarkState state = off_now_ ? MarkState::Error : done_ ? MarkState::Done : MarkState::Next;
    const auto done = static_cast<std::size_t>(first - burnt_.begin());
    marks.paths.push_back({line_.points(), static_cast<float>(2.0 * task_.tolerance), done, state});
  }

 private:
  double share() const { return double(std::count(burnt_.begin(), burnt_.end(), 1)) / double(burnt_.size()); }

  // Returns true when the tool burns off the line.
  bool burn_with(const Observation& seen, std::size_t tool, TaskLog& log) {
    burn_other(seen, tool, log);
    if (!heats(seen, line_.organ(), tool)) return false;
    const ToolPose& pose = seen.tools[tool].pose;
    const TissueLine::Foot foot = line_.nearest(pose.tip, 0, line_.steps());
    const double away = beside(foot.away, pose.radius);
    if (away > task_.tolerance) {
      burn_beside(pose.tip, away, foot.beyond, seen.time, log);
      return true;
    }
    if (!removing_.now() || seen.tools[tool].energy != Diathermy::Cut) return false;
    // Points of the line within the tolerance of the tip count as burnt.
    for (std::size_t k = 0; k < burnt_.size(); ++k) {
      const double distance = glm::distance(glm::dvec3(line_.points()[k]), pose.tip);
      if (beside(distance, pose.radius) <= task_.tolerance) burnt_[k] = 1;
    }
    return false;
  }

  void burn_beside(const glm::dvec3& tip, double away, bool beyond, double time, TaskLog& log) {
    if (!off_.now()) log.error(time, beyond ? "burnt beyond the end of the line" : "burnt off the line");
    away_ = away;
    if (beyond) overshoot_ = std::max(overshoot_, away);
    if (last_off_) beside_ += glm::distance(tip, *last_off_);
    last_off_ = tip;
  }

  static bool heats(const Observation& seen, std::size_t organ, std::size_t tool) {
    return (seen.tools[tool].heats & organ_bit(organ)) != 0;
  }

  bool touches_any(const Observation& seen, std::size_t tool) const {
    for (std::size_t organ = 0; organ < organs_.size(); ++organ)
      if (touches(seen, organ, tool)) return true;
    return false;
  }

  void burn_other(const Observation& seen, std::size_t tool, TaskLog& log) {
    for (std::size_t organ = 0; organ < organs_.size(); ++organ) {
      if (organ == line_.organ()) continue;
      if (wrong_organ_[organ].see(heats(seen, organ, tool), seen.time))
        log.error(seen.time, fmt::format("burnt the {}", organs_[organ]));
    }
  }

  TaskScene task_;
  TissueLine line_;
  std::vector<std::string> organs_;
  std::vector<std::size_t> tools_;                                     // the instruments that count
  std::vector<char> burnt_;                                            // [point of the line]
  std::vector<Lasting> touching_;                                      // [tool of tools_] contact with any organ
  std::vector<Lasting> wrong_organ_;                                   // [organ] burnt by mistake
  double beside_ = 0.0, overshoot_ = 0.0, in_air_ = 0.0, away_ = 0.0;  // m, m, s, m
  std::optional<glm::dvec3> last_off_;                                 // last tip position that burnt off the line
  Lasting off_{kErrorLasts}, removing_{task_.rules.removal_lasts};     // off the line; tissue is being removed
  bool off_now_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_burn_line(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<BurnLine>(task, stage);
}

}  // namespace trocar
