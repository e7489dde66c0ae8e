// Implements the task "operation": steps in any safe order (sim/task/operation_steps.hpp), ducts and vessels that are
// clipped and divided (sim/task/duct_watch.hpp), and limits whose violation is a critical error. Rules and sources:
// docs/tasks.md.   Tested in tests/sim/operation_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/task/avulsion_watch.hpp"
#include "sim/task/burn_watch.hpp"
#include "sim/task/cut_watch.hpp"
#include "sim/task/duct_watch.hpp"
#include "sim/task/loss_watch.hpp"
#include "sim/task/operation_steps.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

struct LimitedOrgan {
  std::uint32_t organ = 0;
  TaskLimit limit;
  std::optional<BurnWatch> burns;  // of a limit deepest_burn
  LossWatch losses;
  bool exceeded = false;
};

class Operation final : public TaskGoal {
 public:
  Operation(const TaskScene& task, const TaskStage& stage)
      : task_(task), names_(stage.organs), marks_(marks_of(task, stage)), ducts_(task, stage), steps_(task, stage) {
    marks_.insert(marks_.end(), steps_.marks().begin(), steps_.marks().end());
    for (const TaskLimit& limit : task.limits) {
      const std::uint32_t organ = organ_of(stage, limit.organ);
      std::vector<MeshView> others = stage.surfaces;
      others.erase(others.begin() + organ);
      limits_.push_back({organ, limit, {}, LossWatch(organ, limit)});
      if (limit.deepest_burn > 0.0) limits_.back().burns.emplace(stage.surfaces[organ], others);
    }
    is_wanted_.resize(stage.fibres.size());
    for (std::size_t k = 0; k < steps_.size(); ++k)
      for (const std::uint32_t fibre : steps_.fibres(k)) is_wanted_[fibre] = 1;
    was_done_.resize(steps_.size());
    bleeds_.resize(names_.size());
    avulsions_.emplace(stage, is_wanted_);
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    positions_.assign(seen.marks.begin(), seen.marks.end());
    const bool may_divide = steps_.may_divide();
    ducts_.step(seen, log);
    if (!may_divide) watch_order(seen, log);
    if (log.ended) return;
    steps_.step(seen, dt, ducts_.done() ? 1.0 : std::min(ducts_.progress(), 0.99));
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (steps_.done(k) && !was_done_[k]) log.note(seen.time, fmt::format("done: {}", steps_.at(k).title));
      was_done_[k] = steps_.done(k);
    }
    watch_sources(seen, log);
    for (LimitedOrgan& limited : limits_) {
      watch_limit(seen, limited, log);
      limited.losses.step(seen, names_[limited.organ], log);
    }
    watch_fibres(seen);
    avulsions_->step(seen, ducts_, log);
    watch_cuts(seen, log);
    find_middle(seen);
  }

  double progress() const override {
    double sum = 0.0;
    for (std::size_t k = 0; k < steps_.size(); ++k) sum += steps_.progress(k);
    return sum / double(steps_.size());
  }
  std::optional<std::size_t> step_number() const override { return steps_.current(); }

  void say(std::string& hint, std::string& warning) const override {
    const auto current = steps_.current();
    if (!current) return;
    const TaskStep& step = steps_.at(*current);
    auto to = std::back_inserter(hint);
    fmt::format_to(to, "{} of {}: {}", *current + 1, steps_.size(), step.title);
    switch (step.kind) {
      case StepKind::Retract:
      case StepKind::Remove:
        if (steps_.moved(*current) < step.lift)
          fmt::format_to(to, ", {:.0f} mm more", (step.lift - steps_.moved(*current)) * 1e3);
        else
          hint += ", hold it";
        break;
      case StepKind::Dissect:
        fmt::format_to(to, ", {:.0f} %", 100.0 * steps_.progress(*current));
        break;
      case StepKind::Divide:
        hint += "; ";
        ducts_.say(hint, warning);
        break;
    }
    if (!warning_.empty()) warning = warning_;
  }

  void add_metrics(PartList& parts) const override {
    const auto wanted = std::ranges::count(is_wanted_, 1);
    if (wanted > 0)
      parts.add("task_torn", "Strands torn, not cut", "%", 100.0 * double(torn_) / double(wanted), 30.0, 100.0);
    if (!ducts_.targets().empty()) ducts_.add_metrics(parts);
    double burnt = 0.0;  // 1  depth relative to its limit
    bool limited = false;
    for (const LimitedOrgan& each : limits_) {
      if (!each.burns) continue;
      limited = true;
      burnt = std::max(burnt, each.burns->deepest() / each.limit.deepest_burn);
    }
    if (limited) parts.add("task_burn_depth", "Deepest burn", "% of the limit", 100.0 * burnt, 50.0, 100.0);
    parts.add("task_other_cuts", "Cuts and tears of organs that are not ducts", "", double(cuts_.count), 0.0, 3.0);
    add_losses(parts);
  }

  void draw(DrawnMarks& marks) const override {
    const auto current = steps_.current();
    if (!current || positions_.empty()) return;
    const auto size = static_cast<float>(task_.tolerance);
    switch (steps_.at(*current).kind) {
      case StepKind::Retract:
      case StepKind::Remove:
        marks.targets.push_back({positions_[steps_.mark_of(*current)], size, MarkState::Next});
        break;
      case StepKind::Dissect:
        marks.targets.push_back({middle_, size, MarkState::Next});
        break;
      case StepKind::Divide:
        ducts_.draw(std::span(positions_).first(task_.locations.size()), marks);
        break;
    }
  }

 private:
  void complain(double time, std::string text, TaskLog& log) {
    warning_ = text;
    log.error(time, std::move(text));
  }

  // A clip or a cut before the steps that must come first.
  void watch_order(const Observation& seen, TaskLog& log) {
    const auto missing = [&] {
      for (std::size_t k = 0; k < steps_.size(); ++k)
        if (steps_.at(k).before_division && !steps_.done(k)) return steps_.at(k).title;
      return std::string();
    };
    if (ducts_.divisions_now() > 0) log.critical(seen.time, "divided before this step was done: " + missing());
    if (ducts_.clips_now() > 0) complain(seen.time, "a clip before this step was done: " + missing(), log);
  }

  void watch_limit(const Observation& seen, LimitedOrgan& limited, TaskLog& log) {
    const std::uint32_t bit = organ_bit(limited.organ);
    const bool hot = std::ranges::any_of(seen.tools, [&](const SeenTool& tool) { return (tool.heats & bit) != 0; });
    if (!hot) return;
    if (limited.burns) limited.burns->add(seen.organs[limited.organ].new_rest);
    if (limited.exceeded) return;
    const std::string& name = names_[limited.organ];
    if (limited.limit.no_diathermy) {
      limited.exceeded = true;
      log.critical(seen.time, fmt::format("diathermy on the {}", name));
    } else if (limited.burns && limited.burns->deepest() > limited.limit.deepest_burn) {
      limited.exceeded = true;
      log.critical(seen.time,
                   fmt::format("the {} is burnt deeper than {:.1f} mm", name, 1e3 * limited.limit.deepest_burn));
    }
  }

  void watch_fibres(const Observation& seen) {
    for (std::size_t k = 0; k < seen.fibres.broken.size(); ++k)
      torn_ +=
          is_wanted_[seen.fibres.broken[k]] && k < seen.fibres.how.size() && seen.fibres.how[k] == FibreBreak::Torn;
  }

  // Every organ counts, but only where a limit is set for some organ.
  void add_losses(PartList& parts) const {
    double most_blood = 0.0, most_bile = 0.0;
    for (const LimitedOrgan& each : limits_) {
      most_blood += each.limit.most_blood_ml;
      most_bile += each.limit.most_bile_ml;
    }
    if (most_blood > 0.0) parts.add("task_blood", "Blood lost", "ml", blood_ml_, 0.1 * most_blood, most_blood);
    if (most_bile > 0.0) parts.add("task_bile", "Bile spilt", "ml", bile_ml_, 0.0, most_bile);
  }

  // Says when an organ begins to bleed or spill: once for each organ and fluid in half a second.
  void watch_sources(const Observation& seen, TaskLog& log) {
    blood_ml_ = bile_ml_ = 0.0;
    for (const FluidLoss& lost : seen.bleeding.lost) {
      blood_ml_ += lost.blood / kMillilitre;
      bile_ml_ += lost.bile / kMillilitre;
    }
    for (; known_sources_ < seen.bleeding.sources.size(); ++known_sources_) {
      const BleedSource& source = seen.bleeding.sources[known_sources_];
      if (source.organ >= names_.size()) continue;
      const std::string& name = names_[source.organ];
      if (source.kind == BleedKind::Perforation) {
        complain(seen.time, fmt::format("the {} is perforated and spills bile", name), log);
      } else if (bleeds_[source.organ].cut(seen.time)) {
        log.note(seen.time, fmt::format("the {} bleeds", name));
      }
    }
  }

  // Faces that hot metal removes do not count: their depth does.
  void watch_cuts(const Observation& seen, TaskLog& log) {
    for (std::size_t k = 0; k < seen.organs.size(); ++k) {
      if (ducts_.is_tube(k) || seen.organs[k].faces_removed == 0) continue;
      const std::uint32_t bit = organ_bit(k);
      if (std::ranges::any_of(seen.tools, [&](const SeenTool& tool) { return (tool.heats & bit) != 0; })) continue;
      if (cuts_.cut(seen.time)) complain(seen.time, fmt::format("the {} is cut or torn", names_[k]), log);
    }
  }

  // The middle of the fibres that the current step still has to divide.
  void find_middle(const Observation& seen) {
    const auto current = steps_.current();
    if (!current) return;
    glm::vec3 sum(0.f);
    float count = 0.f;
    for (const std::uint32_t f : steps_.fibres(*current)) {
      if (f >= seen.fibres.intact.size() || !seen.fibres.intact[f]) continue;
      sum += 0.5f * (seen.fibres.ends[f].a + seen.fibres.ends[f].b);
      count += 1.f;
    }
    if (count > 0.f) middle_ = sum / count;
  }

  TaskScene task_;
  std::vector<std::string> names_;  // [organ]
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> positions_;  // [mark] m
  glm::vec3 middle_{0.f};             // m
  DuctWatch ducts_;
  OperationSteps steps_;
  std::vector<char> was_done_;  // [step]
  std::vector<LimitedOrgan> limits_;
  std::vector<char> is_wanted_;  // [fibre] 1: a step divides it
  std::optional<AvulsionWatch> avulsions_;
  std::size_t torn_ = 0;
  CutWatch cuts_;
  std::vector<CutWatch> bleeds_;  // [organ]
  std::size_t known_sources_ = 0;
  double blood_ml_ = 0.0, bile_ml_ = 0.0;  // ml, of all organs
  std::string warning_;
};

}  // namespace

std::unique_ptr<TaskGoal> make_operation(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<Operation>(task, stage);
}

}  // namespace trocar
