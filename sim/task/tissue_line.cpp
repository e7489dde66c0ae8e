#include "sim/task/tissue_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "geometry/translate.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/watches.hpp"

namespace trocar {

TissueLine::TissueLine(const TaskScene& task, const TaskStage& stage)
    : organ_(organ_of(stage, task.locations.front().organ)) {
  const MeshView& surface = stage.surfaces[organ_];
  std::vector<glm::vec3> corners, locations;
  for (const SurfaceMark& mark : marks_of(task, stage)) corners.push_back(position_of(mark, surface.positions));
  for (std::size_t k = 0; k + 1 < corners.size(); ++k) {
    const int steps = std::max(1, int(std::ceil(glm::distance(corners[k], corners[k + 1]) / kStep)));
    for (int step = 0; step < steps; ++step)
      locations.push_back(glm::mix(corners[k], corners[k + 1], float(step) / float(steps)));
  }
  locations.push_back(corners.back());
  marks_ = nearest_marks(organ_, surface, locations);
  for (const SurfaceMark& mark : marks_) {
    const glm::vec3 point = position_of(mark, surface.positions);
    along_.push_back(points_.empty() ? 0.0 : along_.back() + glm::distance(point, points_.back()));
    points_.push_back(point);
  }
}

TissueLine::Foot TissueLine::nearest(const glm::dvec3& point, std::size_t first, std::size_t last) const {
  Foot nearest{std::numeric_limits<double>::infinity()};
  for (std::size_t k = first; k < std::min(last, steps()); ++k) {
    const glm::dvec3 from(points_[k]), step = glm::dvec3(points_[k + 1]) - from;
    const double squared = glm::dot(step, step);
    const double wanted = squared > 0.0 ? glm::dot(point - from, step) / squared : 0.0;
    const double share = std::clamp(wanted, 0.0, 1.0);
    const double away = glm::distance(point, from + share * step);
    if (away >= nearest.away) continue;
    const bool beyond = (k == 0 && wanted < 0.0) || (k + 1 == steps() && wanted > 1.0);
    nearest = {away, glm::mix(along_[k], along_[k + 1], share), beyond};
  }
  return nearest;
}

// Implements the task "follow a curve": the tip follows a line on the organ, in contact, point after point. The goal
// measures the distance of the contact from the line, how often the contact left the line's width, and how often it was
// lost.
// Tested in tests/sim/task/task_run_test.cpp

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
      hint += tr("touch the start of the line");
    } else {
      fmt::format_to(std::back_inserter(hint), fmt::runtime(tr("follow the line, {:.0f} % done")), 100.0 * progress());
    }
    if (!begun() || done()) return;
    if (!in_contact_) {
      warning += tr("contact lost");
    } else if (off_.now() && deviation_ > task_.tolerance) {
      fmt::format_to(std::back_inserter(warning), fmt::runtime(tr("{:.1f} mm off the line")), deviation_ * 1e3);
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
    if (begun() && !before) log.note(time, tr("on the line"));
  }

  // Only a touching tip has a deviation, not one that has just lost contact.
  void watch(const Observation& seen, const std::optional<std::size_t>& tool, double dt, TaskLog& log) {
    if (!tool && in_contact_) ++lost_, log.error(seen.time, tr("contact lost"));
    if (!tool || !tip_touches(seen, line_.organ(), *tool)) {
      off_.see(false, seen.time);
      return;
    }
    const ToolPose& pose = seen.tools[*tool].pose;
    const std::size_t first = next_ > kAround ? next_ - kAround : 0;
    deviation_ = beside(line_.nearest(pose.tip, first, next_ + kAround).away, pose.radius);
    sum_ += deviation_ * dt, time_ += dt;
    worst_ = std::max(worst_, deviation_);
    if (off_.see(deviation_ > task_.tolerance, seen.time)) log.error(seen.time, tr("left the line"));
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

// Implements the task "burn along a line": the hook, with diathermy on, follows the line and burns it within its width.
// A point of the line is burnt when its tissue was removed, by whatever means, or when the hook removed tissue within
// the line's width of it: so every line can be finished. The goal measures the share of the line that is burnt, the
// length burnt off the line, the distance burnt beyond its ends, and diathermy without contact. Tested in
// tests/sim/task/task_run_test.cpp

namespace {

constexpr double kPedalWait = 2.0;  // s  a burnt line ends so long after it was burnt although the pedal is down

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
    since_enough_ = share() >= task_.rules.enough ? since_enough_ + dt : 0.0;
    done_ = done_ || (share() >= task_.rules.enough && (!hot || since_enough_ > kPedalWait));
  }

  double progress() const override { return done_ ? 1.0 : 0.999 * std::min(share() / task_.rules.enough, 1.0); }

  void say(std::string& hint, std::string& warning) const override {
    if (share() >= task_.rules.enough) {
      hint += tr("diathermy off");
    } else {
      fmt::format_to(std::back_inserter(hint), fmt::runtime(tr("burn along the line, {:.0f} % burnt")),
                     100.0 * share());
    }
    if (off_now_)
      fmt::format_to(std::back_inserter(warning), fmt::runtime(tr("burning {:.1f} mm off the line")), away_ * 1e3);
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
    if (!off_.now()) log.error(time, beyond ? tr("burnt beyond the end of the line") : tr("burnt off the line"));
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
        log.error(seen.time, trf("burnt the {}", tr(organs_[organ])));
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
  double since_enough_ = 0.0;                                          // s
  std::optional<glm::dvec3> last_off_;                                 // last tip position that burnt off the line
  Lasting off_{kErrorLasts}, removing_{task_.rules.removal_lasts};     // off the line; tissue is being removed
  bool off_now_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<TaskGoal> make_burn_line(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<BurnLine>(task, stage);
}

}  // namespace trocar
