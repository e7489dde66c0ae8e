// Implements the task "operation": steps in any safe order (sim/task/operation.hpp), ducts and vessels that are
// clipped and divided (sim/task/duct.hpp), and limits whose violation is a critical error. Rules and sources:
// docs/tasks.md.   Tested in tests/sim/task/task_run_test.cpp
#include "sim/task/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "geometry/translate.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/duct.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
namespace {

// Returns the fibres of a layer or band, or those of them that are nearest to a point.
std::vector<std::uint32_t> fibres_of(const StepTissue& tissue, const TaskStage& stage) {
  const auto named = std::ranges::find(stage.tissue, tissue.name);
  const auto group = static_cast<std::uint32_t>(named - stage.tissue.begin());
  std::vector<std::uint32_t> fibres;
  for (std::uint32_t f = 0; f < stage.fibres.size(); ++f)
    if (stage.fibres[f].group == group) fibres.push_back(f);
  const auto away = [&](std::uint32_t f) { return glm::distance(stage.fibres[f].rest, tissue.near); };
  std::ranges::stable_sort(fibres, {}, away);
  fibres.resize(static_cast<std::size_t>(std::ceil(tissue.part * double(fibres.size()))));
  return fibres;
}

// Returns which organs a step clears away. [organ]
std::vector<char> cleared_away(const TaskScene& task, const TaskStage& stage) {
  std::vector<char> goes(stage.organs.size());
  for (const TaskStep& step : task.steps)
    for (const StepGone& gone : step.gone) goes[organ_of(stage, gone.organ)] = 1;
  return goes;
}

}  // namespace

std::optional<BleedState> bleeding_of(const SeenBleeding& seen, std::uint32_t vessel) {
  std::optional<BleedState> worst;
  for (const BleedSource& source : seen.sources) {
    if (source.organ != vessel || source.kind != BleedKind::Vessel) continue;
    const BleedState state = std::min(source.state, BleedState::Closed);
    worst = std::min(worst.value_or(state), state);
  }
  return worst;
}

OperationSteps::OperationSteps(const TaskScene& task, const TaskStage& stage) : jaws_(stage.jaws), kinds_(stage.kinds) {
  for (const TaskStep& scene : task.steps) {
    Step step{scene};
    for (const StepTissue& tissue : scene.tissue) {
      const std::vector<std::uint32_t> fibres = fibres_of(tissue, stage);
      step.fibres.insert(step.fibres.end(), fibres.begin(), fibres.end());
    }
    if (scene.kind == StepKind::Clear) {
      step.window.emplace(scene, stage, task.locations.size() + marks_.size(), marks_);
      for (std::size_t side = 0; side < scene.sides.size(); ++side)
        if (!stage.lines[organ_of(stage, scene.sides[side].organ)].empty()) step.tubes.push_back(side);
    }
    if (!scene.organ.empty()) {
      const std::uint32_t organ = organ_of(stage, scene.organ);
      step.mark = task.locations.size() + marks_.size(), step.vessel = organ;
      const bool bleeds = scene.kind == StepKind::StopBleeding;
      marks_.push_back(nearest_mark(organ, stage.surfaces[organ], bleeds ? stage.injuries[organ]->at : scene.location));
    }
    steps_.push_back(std::move(step));
  }
  first_duct_mark_ = task.locations.size() + marks_.size();
  const auto add_span = [&](std::uint32_t organ, const glm::vec3& at) {
    const std::vector<glm::dvec3>& line = stage.lines[organ];
    const double along = along_line(line, glm::dvec3(at));
    for (const double by : {-kDuctSpan, kDuctSpan})
      marks_.push_back(nearest_mark(organ, stage.surfaces[organ], glm::vec3(point_on_line(line, along + by))));
  };
  for (const TaskTarget& target : task.locations) add_span(organ_of(stage, target.organ), target.location);
  for (const Step& step : steps_)
    if (step.scene.kind == StepKind::StopBleeding) add_span(step.vessel, stage.injuries[step.vessel]->at);
}

void OperationSteps::step(const Observation& seen, double dt, double divided) {
  left_ml_ = seen.bleeding.fluids.on[static_cast<std::size_t>(FilmFluid::Blood)] / kMillilitre;
  for (Step& step : steps_) {
    const bool last = step.scene.kind == StepKind::Remove;
    const auto others_done = [&] {
      return std::ranges::all_of(steps_, [&](const Step& other) { return &other == &step || other.done; });
    };
    switch (step.scene.kind) {
      case StepKind::Retract:
      case StepKind::Remove:
        follow_motion(seen, dt, !last || others_done(), step);
        break;
      case StepKind::Dissect: {
        const auto broken = std::ranges::count_if(
            step.fibres, [&](std::uint32_t f) { return f < seen.fibres.intact.size() && !seen.fibres.intact[f]; });
        const double share = step.fibres.empty() ? 1.0 : double(broken) / double(step.fibres.size());
        step.progress = std::max(step.progress, std::min(share / step.scene.share, 1.0));
        step.done = step.done || share >= step.scene.share;
        break;
      }
      case StepKind::Divide:
        step.progress = divided;
        step.done = divided >= 1.0;
        break;
      case StepKind::Clear:
        if (!step.done) step.window->look(seen);
        step.progress = std::max(step.progress, std::min(step.window->share() / step.scene.share, 1.0));
        step.done = step.done || step.window->share() >= step.scene.share;
        break;
      case StepKind::StopBleeding:
        follow_bleeding(seen, dt, step);
        break;
      case StepKind::Suck:
        follow_blood(step);
        break;
    }
    if (step.done) step.progress = 1.0;
  }
}

// Calls `see` with each closed grasper and the distance of its tip from the point, m. An observation does not say what
// jaws hold.
template <typename See>
void OperationSteps::for_closed(const Observation& seen, const glm::dvec3& point, const See& see) const {
  for (std::size_t tool = 0; tool < seen.tools.size() && tool < kinds_.size(); ++tool)
    if (kinds_[tool] == InstrumentKind::Grasper && seen.tools[tool].grip < jaws_[tool].close_below)
      see(tool, glm::distance(seen.tools[tool].pose.tip, point));
}

std::optional<double> OperationSteps::hold(std::size_t number) const {
  const Step& step = steps_[number];
  const bool moves = step.scene.kind == StepKind::Retract || step.scene.kind == StepKind::Remove;
  if (!(step.held > 0.0) || (moves && !step.grasped)) return std::nullopt;
  return held_share(step.held, step.scene.hold);
}

void OperationSteps::follow_motion(const Observation& seen, double dt, bool counts, Step& step) {
  const glm::dvec3 now(seen.marks[step.mark]);
  if (!step.rest) step.rest = now;
  constexpr double kNear = 0.015;  // m  of a tip that holds tissue near the point
  std::optional<std::size_t> tool;
  step.away.reset();
  for_closed(seen, now, [&](std::size_t grasper, double away) {
    if (!tool && away < kNear) tool = grasper;
    step.away = std::min(away, step.away.value_or(away));
  });
  step.grasped = tool.has_value();
  step.moved = glm::distance(now, *step.rest);
  // What has fallen and is grasped where it lies is far from its first position, but not nearer to the trocar.
  if (step.scene.kind == StepKind::Remove) {
    const auto away = [&](const glm::dvec3& from) { return glm::distance(from, seen.tools[*tool].pose.pivot); };
    step.moved = tool ? std::max(0.0, away(*step.rest) - away(now)) : 0.0;
  }
  if (!counts || step.done || !tool) return;
  constexpr double kForHolding = 0.2;  // 1   share of the progress
  step.held = step.moved >= step.scene.lift ? step.held + dt : 0.0;
  const double held = step.scene.hold > 0.0 ? std::min(step.held / step.scene.hold, 1.0) : 1.0;
  const double way = std::min(step.moved / step.scene.lift, 1.0);
  step.progress = std::max(step.progress, (1.0 - kForHolding) * way + kForHolding * held * double(way >= 1.0));
  step.done = step.moved >= step.scene.lift && step.held >= step.scene.hold;
}

// What is pressed bleeds again when it is released; a clip or heat must hold for a while.
void OperationSteps::follow_bleeding(const Observation& seen, double dt, Step& step) {
  constexpr double kForPressing = 0.3, kForHolding = 0.2;  // 1   shares of the progress
  step.bleeding = bleeding_of(seen.bleeding, step.vessel);
  const bool stopped = step.bleeding == BleedState::Closed;
  step.held = stopped ? step.held + dt : 0.0;
  const double held = step.scene.hold > 0.0 ? std::min(step.held / step.scene.hold, 1.0) : 1.0;
  if (step.bleeding == BleedState::Pressed) step.progress = std::max(step.progress, kForPressing);
  if (stopped) step.progress = std::max(step.progress, 1.0 - kForHolding * (1.0 - held));
  step.done = step.done || (stopped && held >= 1.0);
}

void OperationSteps::follow_blood(Step& step) {
  step.most_ml = std::max(step.most_ml, left_ml_);
  const bool counts = std::ranges::all_of(
      steps_, [](const Step& other) { return other.scene.kind != StepKind::StopBleeding || other.done; });
  if (!counts) return;
  step.done = step.done || left_ml_ <= step.scene.left_ml;
  if (!step.done)
    step.progress = std::max(step.progress, (step.most_ml - left_ml_) / (step.most_ml - step.scene.left_ml));
}

bool OperationSteps::has_view() const {
  const auto any = [&](StepKind kind) {
    return std::ranges::any_of(steps_,
                               [&](const Step& step) { return step.scene.kind == kind && step.scene.before_division; });
  };
  return any(StepKind::Clear) && any(StepKind::Dissect);
}

std::optional<CriticalView> OperationSteps::view(const Observation& seen) {
  if (!has_view()) return std::nullopt;
  // Half of a criterion is one point.
  const auto points = [](double share) { return share >= 1.0 ? 2 : share >= 0.5 ? 1 : 0; };
  double structures = 1.0, plate = 1.0, triangle = 1.0;
  for (Step& step : steps_) {
    if (!step.scene.before_division) continue;
    if (step.scene.kind == StepKind::Dissect) plate = std::min(plate, step.progress);
    if (step.scene.kind != StepKind::Clear) continue;
    step.window->look_at_all(seen);
    triangle = std::min(triangle, step.window->share() / step.scene.share);
    const auto shown = std::ranges::count_if(
        step.tubes, [&](std::size_t side) { return step.window->share_beside(side) >= step.scene.share; });
    structures = std::min(structures, double(shown) / double(std::max<std::size_t>(step.tubes.size(), 1)));
  }
  return CriticalView{points(structures), points(plate), points(triangle)};
}

std::optional<std::size_t> OperationSteps::current() const {
  const auto found = std::ranges::find(steps_, false, &Step::done);
  if (found == steps_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - steps_.begin());
}

bool OperationSteps::may_divide() const {
  return std::ranges::all_of(steps_, [](const Step& step) { return step.done || !step.scene.before_division; });
}

namespace {

// Watches the connective tissue that joins the ends of ducts and vessels to organs. A duct that comes off an organ
// before it is divided is an injury: a critical error.   Tested in tests/sim/task/task_run_test.cpp

class AvulsionWatch {
 public:
  // `wanted`: 1 for fibres that the task divides; they hold no duct. [fibre] Nor do those to fat and peritoneum that a
  // step clears away.
  AvulsionWatch(const TaskScene& task, const TaskStage& stage, std::span<const char> wanted);

  // Reports each duct that has come off since the last frame and was not divided before.
  void step(const Observation& seen, const DuctWatch& ducts, TaskLog& log);

 private:
  struct Junction {
    std::uint32_t group = 0, duct = 0, other = 0;  // organs
    std::size_t intact = 0;                        // fibres
  };

  std::vector<std::string> names_;  // [organ]
  std::vector<Junction> junctions_;
  std::vector<std::uint32_t> junction_of_;  // [fibre] kNoJunction: it is in none
};

constexpr std::uint32_t kNoJunction = ~0u;

AvulsionWatch::AvulsionWatch(const TaskScene& task, const TaskStage& stage, std::span<const char> wanted)
    : names_(stage.organs) {
  const std::vector<char> goes = cleared_away(task, stage);
  const auto is_tube = [&](std::uint32_t organ) { return organ < stage.lines.size() && !stage.lines[organ].empty(); };
  junction_of_.assign(stage.fibres.size(), kNoJunction);
  for (std::size_t f = 0; f < stage.fibres.size(); ++f) {
    const StageFibre& fibre = stage.fibres[f];
    if (wanted[f] || fibre.a == kWall || fibre.b == kWall || (!is_tube(fibre.a) && !is_tube(fibre.b)) ||
        goes[fibre.a] || goes[fibre.b])
      continue;
    const bool from_duct = is_tube(fibre.a);
    auto junction = std::ranges::find(junctions_, fibre.group, &Junction::group);
    if (junction == junctions_.end())
      junction =
          junctions_.insert(junction, {fibre.group, from_duct ? fibre.a : fibre.b, from_duct ? fibre.b : fibre.a});
    ++junction->intact;
    junction_of_[f] = static_cast<std::uint32_t>(junction - junctions_.begin());
  }
}

void AvulsionWatch::step(const Observation& seen, const DuctWatch& ducts, TaskLog& log) {
  for (const std::uint32_t fibre : seen.fibres.broken) {
    if (junction_of_[fibre] == kNoJunction) continue;
    Junction& junction = junctions_[junction_of_[fibre]];
    if (--junction.intact > 0 || ducts.is_divided(junction.duct)) continue;
    log.critical(seen.time, trf("the {} has come off the {}", tr(names_[junction.duct]), tr(names_[junction.other])));
  }
}

}  // namespace

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
      : task_(task),
        names_(stage.organs),
        instruments_(stage.instruments),
        kinds_(stage.kinds),
        marks_(marks_of(task, stage)),
        duct_points_(stage),
        ducts_(task, stage),
        steps_(task, stage) {
    marks_.insert(marks_.end(), steps_.marks().begin(), steps_.marks().end());
    for (const TaskLimit& limit : task.limits) {
      const std::uint32_t organ = organ_of(stage, limit.organ);
      std::vector<MeshView> others = stage.surfaces;
      others.erase(others.begin() + organ);
      limits_.push_back({organ, limit, {}, LossWatch(organ, limit)});
      if (limit.deepest_burn > 0.0) limits_.back().burns.emplace(stage.surfaces[organ], others);
    }
    is_wanted_.resize(stage.fibres.size());
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      for (const std::uint32_t fibre : steps_.fibres(k)) is_wanted_[fibre] = 1;
      clears_ |= steps_.at(k).kind == StepKind::Clear;
    }
    goes_ = cleared_away(task, stage);
    was_done_.resize(steps_.size());
    bleeds_.resize(names_.size()), burns_.resize(names_.size());
    avulsions_.emplace(task, stage, is_wanted_);
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    positions_.assign(seen.marks.begin(), seen.marks.end());
    const bool may_divide = steps_.may_divide();
    ducts_.step(seen, log);
    if (!may_divide) watch_order(seen, log);
    watch_view(seen, log);
    if (log.ended) return;
    steps_.step(seen, dt, ducts_.done() ? 1.0 : std::min(ducts_.progress(), 0.99));
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (steps_.done(k) && !was_done_[k]) log.note(seen.time, trf("done: {}", tr(steps_.at(k).title)));
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
    find_mark(seen);
    find_edge();
  }

  double progress() const override {
    double sum = 0.0;
    for (std::size_t k = 0; k < steps_.size(); ++k) sum += steps_.progress(k);
    return sum / double(steps_.size());
  }
  std::optional<std::size_t> step_number() const override { return steps_.current(); }
  std::optional<std::size_t> tool() const override {
    const auto current = steps_.current();
    if (!current) return std::nullopt;
    const TaskStep& step = steps_.at(*current);
    switch (step.kind) {
      case StepKind::Retract:
      case StepKind::Remove:
        if (!step.instrument.empty()) {
          const auto named = std::ranges::find(instruments_, step.instrument);
          return static_cast<std::size_t>(named - instruments_.begin());
        }
        return first_of({InstrumentKind::Grasper});
      case StepKind::Dissect:
      case StepKind::Clear:
        return first_of({InstrumentKind::Hook, InstrumentKind::Scissors});
      case StepKind::Divide:
        return first_of({ducts_.wants_clip() ? InstrumentKind::ClipApplier : InstrumentKind::Scissors});
      case StepKind::StopBleeding:
        return first_of(
            {steps_.bleeding(*current) == BleedState::Flows ? InstrumentKind::Grasper : InstrumentKind::ClipApplier});
      case StepKind::Suck:
        return first_of({InstrumentKind::Suction});
    }
    return std::nullopt;
  }

  std::optional<double> hold() const override {
    const auto current = steps_.current();
    return current ? steps_.hold(*current) : std::nullopt;
  }

  void say(std::string& hint, std::string& warning) const override {
    const auto current = steps_.current();
    if (!current) return;
    const TaskStep& step = steps_.at(*current);
    auto to = std::back_inserter(hint);
    fmt::format_to(to, fmt::runtime(tr("{} of {}: {}")), *current + 1, steps_.size(), tr(step.title.c_str()));
    if (const auto wanted = tool()) fmt::format_to(to, " ({})", tr(instruments_[*wanted].c_str()));
    switch (step.kind) {
      case StepKind::Retract:
      case StepKind::Remove:
        if (!steps_.grasped(*current)) {
          hint += tr(", grasp it at its mark");
          if (const auto away = steps_.away(*current))
            fmt::format_to(to, fmt::runtime(tr("; the jaws are {:.0f} mm away from it")), *away * 1e3);
        } else if (steps_.moved(*current) < step.lift) {
          fmt::format_to(to, fmt::runtime(tr(", {:.0f} mm more")), (step.lift - steps_.moved(*current)) * 1e3);
        } else {
          hint += tr(", hold it");
        }
        break;
      case StepKind::Dissect:
      case StepKind::Clear:
        fmt::format_to(to, ", {:.0f} %", 100.0 * steps_.progress(*current));
        break;
      case StepKind::Divide:
        hint += "; ";
        ducts_.say(hint, warning);
        break;
      case StepKind::StopBleeding:
        hint += steps_.bleeding(*current) == BleedState::Pressed
                    ? tr("; it is pressed: clip it on the side of its supply")
                : steps_.bleeding(*current) == BleedState::Flows ? tr("; hold it where it bleeds, or clip it at once")
                                                                 : "";
        warning += ducts_.warning();
        break;
      case StepKind::Suck:
        fmt::format_to(to, fmt::runtime(tr(", {:.1f} ml left")), steps_.left_ml());
        break;
    }
    if (!warning_.empty()) warning = warning_;
  }

  void add_metrics(PartList& parts) const override {
    const auto wanted = std::ranges::count(is_wanted_, 1);
    if (wanted > 0)
      parts.add("task_torn", "Strands torn, not cut", "%", 100.0 * double(torn_) / double(wanted), 30.0, 100.0);
    ducts_.add_metrics(parts);
    if (clears_) {
      int burns = 0;
      for (const CutWatch& duct : burns_) burns += duct.count;
      parts.add("task_duct_burns", "Burns of ducts and vessels", "", double(burns), 0.0, 2.0);
    }
    if (steps_.has_view())
      parts.add("task_view", "Critical view of safety", "of 6", view_ ? double(view_->points()) : 0.0, 5.0, 2.0);
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
      case StepKind::StopBleeding:
        marks.targets.push_back({positions_[steps_.mark_of(*current)], size, MarkState::Next});
        break;
      case StepKind::Dissect:
        marks.targets.push_back({mark_, size, MarkState::Next});
        break;
      case StepKind::Clear:
        marks.paths.push_back({edge_, kEdgeWidth, 0, MarkState::Next});
        break;
      case StepKind::Divide:
        ducts_.draw(std::span(positions_).first(task_.locations.size()), marks);
        break;
      case StepKind::Suck:
        break;
    }
  }

 private:
  // Returns the first instrument of the first of these kinds that there is.
  std::optional<std::size_t> first_of(std::initializer_list<InstrumentKind> kinds) const {
    for (const InstrumentKind kind : kinds)
      if (const auto found = std::ranges::find(kinds_, kind); found != kinds_.end())
        return static_cast<std::size_t>(found - kinds_.begin());
    return std::nullopt;
  }

  void complain(double time, std::string text, TaskLog& log) {
    warning_ = text;
    log.error(time, std::move(text));
  }

  // The critical view counts when the first clip is set or the first duct divided, as its photographs are taken then.
  void watch_view(const Observation& seen, TaskLog& log) {
    if (view_ || (ducts_.clips_now() == 0 && ducts_.divisions_now() == 0)) return;
    view_ = steps_.view(seen);
    if (view_)
      log.note_with_picture(seen.time,
                            trf("critical view of safety: {} of 6 (two structures {}, cystic plate {}, triangle {})",
                                view_->points(), view_->structures, view_->plate, view_->triangle));
  }

  // A clip or a cut before the steps that must come first.
  void watch_order(const Observation& seen, TaskLog& log) {
    const auto missing = [&] {
      for (std::size_t k = 0; k < steps_.size(); ++k)
        if (steps_.at(k).before_division && !steps_.done(k)) return tr(steps_.at(k).title);
      return std::string();
    };
    if (ducts_.divisions_now() > 0) {
      std::string text = trf("divided before this step was done: {}", missing());
      ducts_.bleeds() ? log.grave(seen.time, std::move(text)) : log.critical(seen.time, std::move(text));
    }
    if (ducts_.clips_now() > 0) complain(seen.time, trf("a clip before this step was done: {}", missing()), log);
  }

  void watch_limit(const Observation& seen, LimitedOrgan& limited, TaskLog& log) {
    const std::uint32_t bit = organ_bit(limited.organ);
    const bool hot = std::ranges::any_of(seen.tools, [&](const SeenTool& tool) { return (tool.heats & bit) != 0; });
    if (!hot) return;
    if (limited.burns) limited.burns->add(seen.organs[limited.organ].new_rest);
    if (limited.exceeded) return;
    const char* const name = tr(names_[limited.organ].c_str());
    if (limited.limit.no_diathermy) {
      limited.exceeded = true;
      log.critical(seen.time, trf("diathermy on the {}", name));
    } else if (limited.burns && limited.burns->deepest() > limited.limit.deepest_burn) {
      limited.exceeded = true;
      log.critical(seen.time, trf("the {} is burnt deeper than {:.1f} mm", name, 1e3 * limited.limit.deepest_burn));
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

  // Says when an organ begins to bleed or spill, once for each organ and fluid in half a second; not what is cleared
  // away.
  void watch_sources(const Observation& seen, TaskLog& log) {
    blood_ml_ = bile_ml_ = 0.0;
    for (const FluidLoss& lost : seen.bleeding.lost) {
      blood_ml_ += lost.blood / kMillilitre;
      bile_ml_ += lost.bile / kMillilitre;
    }
    if (!before_ml_) before_ml_ = {blood_ml_, bile_ml_};
    blood_ml_ -= before_ml_->x, bile_ml_ -= before_ml_->y;
    for (; known_sources_ < seen.bleeding.sources.size(); ++known_sources_) {
      const BleedSource& source = seen.bleeding.sources[known_sources_];
      if (source.organ >= names_.size()) continue;
      const char* const name = tr(names_[source.organ].c_str());
      if (source.kind == BleedKind::Perforation) {
        complain(seen.time, trf("the {} is perforated and spills bile", name), log);
      } else if (source.kind == BleedKind::Surface && !goes_[source.organ] && bleeds_[source.organ].cut(seen.time)) {
        log.note(seen.time, trf("the {} bleeds", name));
      }
    }
  }

  // Faces that hot metal removes do not count: their depth does. Fat and peritoneum that a step clears away may tear.
  // Hot metal in the wall of a duct or vessel is an error, unless it is divided or has bled.
  void watch_cuts(const Observation& seen, TaskLog& log) {
    for (std::size_t k = 0; k < seen.organs.size(); ++k) {
      if (goes_[k] || seen.organs[k].faces_removed == 0) continue;
      const std::uint32_t bit = organ_bit(k);
      const bool hot = std::ranges::any_of(seen.tools, [&](const SeenTool& tool) { return (tool.heats & bit) != 0; });
      if (ducts_.is_tube(k)) {
        if (hot && !ducts_.is_divided(k) && !has_bled(seen, k) && burns_[k].cut(seen.time))
          complain(seen.time, trf("hot metal burns the wall of the {}", tr(names_[k])), log);
        continue;
      }
      if (hot) continue;
      if (cuts_.cut(seen.time)) complain(seen.time, trf("the {} is cut or torn", tr(names_[k])), log);
    }
  }

  static bool has_bled(const Observation& seen, std::size_t organ) {
    return std::ranges::count(seen.bleeding.sources, organ, &BleedSource::organ) > 0;
  }

  // The line along which a window is opened: in the middle between its sides, away from ducts, artery and liver, where
  // something is still in front of it.
  void find_edge() {
    edge_.clear();
    const auto current = steps_.current();
    const ClearWindow* window = current ? steps_.window(*current) : nullptr;
    if (!window) return;
    // The first window that is closed in two places; a line through one place has no direction.
    const std::span<const WindowLine> lines = window->lines();
    const std::size_t in_window = ClearWindow::kAlong * ClearWindow::kAcross;
    for (std::size_t first = 0; first < lines.size(); first += in_window) {
      for (std::size_t k = first + ClearWindow::kAcross / 2; k < first + in_window; k += ClearWindow::kAcross)
        if (!lines[k].free) edge_.push_back(glm::vec3(lines[k].front));
      if (edge_.size() > 1) return;
      edge_.clear();
    }
  }

  // The mark leads to a strand that the current step still has to divide: near the middle of all, and away from ducts
  // and vessels. It stays there until the strand is divided or comes near to one.
  void find_mark(const Observation& seen) {
    constexpr double kAway = 0.0035, kStays = 0.0025;  // m, from the walls of ducts and vessels
    constexpr double kWorth = 4.0;                     // 1, of this distance beside that from the middle
    const auto current = steps_.current();
    if (!current) return;
    left_.clear();
    for (const std::uint32_t f : steps_.fibres(*current))
      if (f < seen.fibres.intact.size() && seen.fibres.intact[f]) left_.push_back(f);
    if (left_.empty()) return;
    duct_points_.follow(seen.organs);
    const auto place = [&](std::uint32_t f) { return middle_of(seen.fibres.ends[f]); };
    const auto clearance = [&](std::uint32_t f) { return duct_points_.clearance(place(f), place(f)); };
    if (std::ranges::find(left_, marked_) == left_.end() || clearance(marked_) < kStays) {
      glm::dvec3 middle(0.0);
      for (const std::uint32_t f : left_) middle += place(f) / double(left_.size());
      marked_ = *std::ranges::max_element(left_, {}, [&](std::uint32_t f) {
        return kWorth * std::min(clearance(f), kAway) - glm::distance(place(f), middle);
      });
    }
    mark_ = glm::vec3(place(marked_));
  }

  TaskScene task_;
  std::vector<std::string> names_;        // [organ]
  std::vector<std::string> instruments_;  // [instrument]
  std::vector<InstrumentKind> kinds_;     // [instrument]
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> positions_;           // [mark] m
  static constexpr float kEdgeWidth = 0.001f;  // m
  glm::vec3 mark_{0.f};                        // m, of a strand
  std::vector<std::uint32_t> left_;            // fibres that the current step still has to divide
  std::uint32_t marked_ = 0;                   // fibre
  DuctPoints duct_points_;
  std::vector<glm::vec3> edge_;  // m, of the window that the current step opens
  DuctWatch ducts_;
  OperationSteps steps_;
  std::optional<CriticalView> view_;  // since the first clip or division
  std::vector<char> was_done_;        // [step]
  std::vector<LimitedOrgan> limits_;
  std::vector<char> is_wanted_;  // [fibre] 1: a step divides it
  std::vector<char> goes_;       // [organ] 1: a step clears it away
  std::optional<AvulsionWatch> avulsions_;
  std::size_t torn_ = 0;
  CutWatch cuts_;
  std::vector<CutWatch> bleeds_;  // [organ]
  std::vector<CutWatch> burns_;   // [organ] of a duct or vessel
  bool clears_ = false;           // a step clears fat away around ducts and vessels
  std::size_t known_sources_ = 0;
  double blood_ml_ = 0.0, bile_ml_ = 0.0;  // ml, of all organs, since the first frame
  std::optional<glm::dvec2> before_ml_;    // ml, of blood and bile, lost before
  std::string warning_;
};

}  // namespace

std::unique_ptr<TaskGoal> make_operation(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<Operation>(task, stage);
}

}  // namespace trocar
