#include "sim/task/duct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
DuctPoints::DuctPoints(const TaskStage& stage) {
  for (std::uint32_t organ = 0; organ < stage.lines.size(); ++organ) {
    if (stage.lines[organ].empty() || organ >= stage.surfaces.size()) continue;
    Line line{organ, 0.0, {}};
    for (const glm::dvec3& at : stage.lines[organ]) line.points.push_back({at, at});
    const std::span<const glm::vec3> vertices = stage.surfaces[organ].positions;
    for (std::uint32_t v = 0; v < vertices.size(); ++v) {
      const glm::dvec3 at(vertices[v]);
      const auto away = [&](const Point& point) { return glm::distance(point.rest, at); };
      Point& nearest = *std::ranges::min_element(line.points, {}, away);
      nearest.around.push_back(v), nearest.mean += at;
      const glm::dvec3 on_line = point_on_line(stage.lines[organ], along_line(stage.lines[organ], at));
      line.radius = std::max(line.radius, glm::distance(at, on_line));
    }
    // A point that no vertex is nearest to would not move.
    std::erase_if(line.points, [](const Point& point) { return point.around.empty(); });
    for (Point& point : line.points) point.mean /= double(point.around.size());
    if (!line.points.empty()) lines_.push_back(std::move(line));
  }
}

void DuctPoints::follow(std::span<const SeenOrgan> organs) {
  for (Line& line : lines_) {
    // Of organs that no step looks at, an observation may have no surface.
    if (line.organ >= organs.size() || organs[line.organ].surface.positions.empty()) continue;
    const std::span<const glm::vec3> vertices = organs[line.organ].surface.positions;
    for (Point& point : line.points) {
      glm::dvec3 mean(0.0);
      for (const std::uint32_t v : point.around) mean += glm::dvec3(vertices[v]);
      point.now = point.rest + mean / double(point.around.size()) - point.mean;
    }
  }
}

double DuctPoints::clearance(const glm::dvec3& from, const glm::dvec3& to) const {
  const closest::Segment reach = closest::segment(from, to);
  double least = INFINITY;
  for (const Line& line : lines_)
    for (std::size_t k = 0; k < line.points.size(); ++k) {
      const Point& next = line.points[std::min(k + 1, line.points.size() - 1)];
      const closest::SegmentPair pair =
          closest::closest_segments(reach, closest::segment(line.points[k].now, next.now));
      least = std::min(least, std::sqrt(pair.squared) - line.radius);
    }
  return least;
}

namespace {

// Shares of a target's progress.
constexpr double kForStaying = 0.3, kForLeaving = 0.2;  // 1, by clips on either side; the division gives 0.5

}  // namespace

double DuctTarget::progress(const TaskRules& rules) const {
  if (rules.clips_staying == 0.0) return double(divided);
  const double stays = std::min(double(staying) / rules.clips_staying, 1.0);
  return kForStaying * stays + kForLeaving * double(leaving > 0) + (1.0 - kForStaying - kForLeaving) * double(divided);
}

DuctWatch::DuctWatch(const TaskScene& task, const TaskStage& stage)
    : rules_(task.rules),
      tolerance_(task.tolerance),
      names_(stage.organs),
      is_tube_(stage.organs.size()),
      divided_(stage.organs.size()),
      is_injured_(stage.organs.size()) {
  for (const TaskStep& step : task.steps)
    if (step.kind == StepKind::StopBleeding) is_injured_[organ_of(stage, step.organ)] = 1;
  for (std::size_t k = 0; k < stage.lines.size(); ++k) is_tube_[k] = !stage.lines[k].empty();
  for (const TaskTarget& target : task.locations) {
    const std::uint32_t organ = organ_of(stage, target.organ);
    if (!is_tube_[organ])
      throw InputError(
          fmt::format("the task's organ '{}' is not a duct or vessel; give it an [organ.tube]", target.organ));
    targets_.push_back(
        {organ, along_line(stage.lines[organ], glm::dvec3(target.location)), target.stays == TubeSide::Start});
  }
}

void DuctWatch::step(const Observation& seen, TaskLog& log) {
  clips_now_ = divisions_now_ = 0;
  watch_clips(seen, log);
  watch_bleeding(seen, log);
  watch_useless_clips(seen, log);
  watch_divisions(seen, log);
  for (DuctTarget& target : targets_) count_clips(seen, target);
}

bool DuctWatch::done() const {
  return std::ranges::all_of(targets_, [&](const DuctTarget& each) { return each.done(rules_); });
}

double DuctWatch::progress() const {
  if (targets_.empty()) return 1.0;
  double sum = 0.0;
  for (const DuctTarget& target : targets_) sum += target.progress(rules_);
  return sum / double(targets_.size());
}

bool DuctWatch::wants_clip() const {
  const DuctTarget* next = current();
  return next && rules_.clips_staying > 0.0 && (double(next->staying) < rules_.clips_staying || next->leaving == 0);
}

void DuctWatch::say(std::string& hint, std::string& warning) const {
  auto to = std::back_inserter(hint);
  const DuctTarget* next = current();
  if (!next) return;
  const char* const name = tr(names_[next->organ].c_str());
  if (double(next->staying) < rules_.clips_staying) {
    fmt::format_to(to, fmt::runtime(tr("{}: clip {} of {:.0f} on the side that stays")), name, next->staying + 1,
                   rules_.clips_staying);
  } else if (rules_.clips_staying == 0.0) {
    fmt::format_to(to, fmt::runtime(tr("{}: cut at the target")), name);
  } else if (next->leaving == 0) {
    fmt::format_to(to, fmt::runtime(tr("{}: a clip on the other side of the target")), name);
  } else {
    fmt::format_to(to, fmt::runtime(tr("{}: cut between the clips")), name);
  }
  warning += warning_;
}

void DuctWatch::add_metrics(PartList& parts) const {
  double miss = 0.0;
  for (const DuctTarget& target : targets_) miss = std::max(miss, target.miss);
  constexpr double kForInjury = 2.0;  // clips: one closes an injured vessel, a second one makes sure
  const double to_divide = rules_.clips_staying > 0.0 ? double(targets_.size()) * (rules_.clips_staying + 1.0) : 0.0;
  const double needed = to_divide + kForInjury * double(std::ranges::count(is_injured_, 1));
  if (needed > 0.0) {
    parts.add("task_clips", "Clips used", "", double(known_), needed, 2.0 * needed);
    parts.add("task_bad_clips", "Clips that do not close a duct", "", double(bad_clips_), 0.0, 3.0);
  }
  if (!targets_.empty())
    parts.add("task_cut_miss", "Cut from target", "mm", 1e3 * miss, 1e3 * tolerance_, 3e3 * tolerance_);
}

void DuctWatch::draw(std::span<const glm::vec3> positions, DrawnMarks& marks) const {
  const DuctTarget* next = current();
  for (std::size_t k = 0; k < targets_.size() && k < positions.size(); ++k) {
    const MarkState state = targets_[k].divided    ? MarkState::Done
                            : &targets_[k] == next ? MarkState::Next
                                                   : MarkState::Waiting;
    marks.targets.push_back({positions[k], static_cast<float>(tolerance_), state, static_cast<int>(k) + 1});
  }
}

const DuctTarget* DuctWatch::current() const {
  const auto found = std::ranges::find_if(targets_, [&](const DuctTarget& each) { return !each.done(rules_); });
  return found == targets_.end() ? nullptr : &*found;
}

DuctTarget* DuctWatch::target_on(std::uint32_t organ) {
  const auto found = std::ranges::find(targets_, organ, &DuctTarget::organ);
  return found == targets_.end() ? nullptr : &*found;
}

void DuctWatch::complain(const Observation& seen, std::string text, TaskLog& log) {
  warning_ = text;
  log.error(seen.time, std::move(text));
}

void DuctWatch::watch_clips(const Observation& seen, TaskLog& log) {
  for (; known_ < seen.clips.size(); ++known_) {
    const PlacedClip& placed = seen.clips[known_];
    ++clips_now_;
    was_on_.push_back(placed.on());
    if (placed.clip.organ == kNoOrgan) {
      ++bad_clips_;
      complain(seen, tr("a clip closed on nothing"), log);
    } else if (is_tube_[placed.clip.organ] && !target_on(placed.clip.organ) && !is_injured_[placed.clip.organ]) {
      log.critical(seen.time, trf("a clip on the {}", tr(names_[placed.clip.organ])));
    } else if (placed.closed < kClosesTube) {
      ++bad_clips_;
      complain(seen, trf("a clip does not close the {}", tr(names_[placed.clip.organ])), log);
    } else {
      warning_.clear();
      log.note(seen.time, trf("clip on the {}", tr(names_[placed.clip.organ])));
    }
  }
  for (std::size_t k = 0; k < known_; ++k) {
    if (was_on_[k] && !seen.clips[k].on()) complain(seen, tr("a clip came off"), log);
    was_on_[k] = seen.clips[k].on();
  }
}

void DuctWatch::watch_divisions(const Observation& seen, TaskLog& log) {
  for (std::uint32_t k = 0; k < seen.tubes.size() && k < names_.size(); ++k) {
    if (!seen.tubes[k].divided || divided_[k]) continue;
    divided_[k] = true;
    ++divisions_now_;
    if (DuctTarget* target = target_on(k)) {
      divide(seen, seen.tubes[k], *target, log);
    } else {
      injure(seen, trf("{} cut", tr(names_[k])), log);
    }
  }
}

void DuctWatch::divide(const Observation& seen, const TubeState& tube, DuctTarget& target, TaskLog& log) {
  const char* const name = tr(names_[target.organ].c_str());
  target.divided = true;
  target.miss = std::abs(double(tube.at) - target.along);
  const std::size_t staying = target.starts ? tube.clips_at_start : tube.clips_at_end;
  if (rules_.clips_staying > 0.0 && (tube.clips_at_start == 0 || tube.clips_at_end == 0)) {
    if (!bleeds_) warning_ = trf("the {} is open: close its end with {:.0f} clips", name, rules_.clips_staying);
    return log.grave(seen.time, trf("{} cut without a clip on both sides", name));
  }
  log.note(seen.time, rules_.clips_staying > 0.0 ? trf("{} divided between clips", name) : trf("{} divided", name));
  if (double(staying) < rules_.clips_staying)
    complain(seen, trf("{}: {} of {:.0f} clips on the side that stays", name, staying, rules_.clips_staying), log);
}

// Where a vessel bleeds the task goes on: it can still be saved.
void DuctWatch::injure(const Observation& seen, std::string text, TaskLog& log) const {
  bleeds_ ? log.grave(seen.time, std::move(text)) : log.critical(seen.time, std::move(text));
}

// Says when a vessel bleeds, and what has stopped it.
void DuctWatch::watch_bleeding(const Observation& seen, TaskLog& log) {
  const auto ended = [](BleedState state) { return state != BleedState::Flows && state != BleedState::Pressed; };
  bleeds_ = false;
  for (std::size_t k = 0; k < seen.bleeding.sources.size(); ++k) {
    const BleedSource& source = seen.bleeding.sources[k];
    const bool is_new = k >= state_.size();
    if (is_new) state_.push_back(source.state), since_.push_back(seen.time);
    if (source.kind != BleedKind::Vessel || source.organ >= names_.size()) continue;
    const char* const name = tr(names_[source.organ].c_str());
    if (is_new && is_injured_[source.organ])
      log.note(seen.time, trf("the {} bleeds", name));
    else if (is_new ? !ended(source.state) : ended(state_[k]) && !ended(source.state))
      complain(seen, trf("the {} bleeds: press on it, then close it with a clip or by heat", name), log);
    if (!ended(state_[k]) && ended(source.state)) {
      warning_.clear();
      const double after = seen.time - since_[k], lost = seen.bleeding.lost[source.organ].blood / kMillilitre;
      log.note(seen.time,
               source.state == BleedState::Closed
                   ? trf("the bleeding of the {} is stopped by a clip, after {:.1f} s and {:.1f} ml", name, after, lost)
               : source.state == BleedState::Coagulated
                   ? trf("the bleeding of the {} is stopped by heat, after {:.1f} s and {:.1f} ml", name, after, lost)
                   : trf("the bleeding of the {} is stopped, after {:.1f} s and {:.1f} ml", name, after, lost));
    }
    state_[k] = source.state;
    bleeds_ = bleeds_ || !ended(source.state);
  }
}

// A clip beside the hole, or behind it, does not close an injured vessel.
void DuctWatch::watch_useless_clips(const Observation& seen, TaskLog& log) {
  for (std::size_t k = known_ - clips_now_; k < known_; ++k) {
    const PlacedClip& placed = seen.clips[k];
    if (placed.clip.organ == kNoOrgan || !is_injured_[placed.clip.organ] || placed.closed < kClosesTube) continue;
    const bool bleeds = std::ranges::any_of(seen.bleeding.sources, [&](const BleedSource& source) {
      return source.organ == placed.clip.organ && source.kind == BleedKind::Vessel &&
             (source.state == BleedState::Flows || source.state == BleedState::Pressed);
    });
    if (!bleeds) continue;
    ++bad_clips_;
    complain(seen, trf("a clip on the {} does not stop its bleeding: it lies beyond it", tr(names_[placed.clip.organ])),
             log);
  }
}

// Before the division, the target separates the sides.
void DuctWatch::count_clips(const Observation& seen, DuctTarget& target) const {
  if (target.divided) {
    const TubeState& tube = seen.tubes[target.organ];
    target.staying = target.starts ? tube.clips_at_start : tube.clips_at_end;
    target.leaving = target.starts ? tube.clips_at_end : tube.clips_at_start;
    return;
  }
  target.staying = target.leaving = 0;
  for (const PlacedClip& placed : seen.clips) {
    if (!placed.on() || placed.clip.organ != target.organ || placed.closed < kClosesTube) continue;
    const bool before = double(placed.along) < target.along;
    ++(before == target.starts ? target.staying : target.leaving);
  }
}

// Implements the task "clip and cut": ducts and vessels are closed by clips on both sides of a target and divided
// between them (sim/task/duct.hpp). A duct that is cut without clips stays open until it is closed, an artery bleeds
// until then or until too much blood is lost; the other critical errors end the task. Rules and sources: docs/tasks.md.
// Tested in tests/sim/task/task_run_test.cpp

namespace {

class ClipAndCut final : public TaskGoal {
 public:
  ClipAndCut(const TaskScene& task, const TaskStage& stage)
      : names_(stage.organs), marks_(marks_of(task, stage)), ducts_(task, stage) {
    for (const TaskLimit& limit : task.limits) {
      const std::uint32_t organ = organ_of(stage, limit.organ);
      losses_.push_back({organ, LossWatch(organ, limit)});
    }
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double, TaskLog& log) override {
    positions_.assign(seen.marks.begin(), seen.marks.end());
    ducts_.step(seen, log);
    if (ducts_.clips_now() > 0) warning_.clear();
    for (std::size_t k = 0; k < seen.organs.size(); ++k)
      if (!ducts_.is_tube(k) && seen.organs[k].faces_removed > 0 && cuts_.cut(seen.time)) {
        warning_ = trf("the {} is cut", tr(names_[k]));
        log.error(seen.time, warning_);
      }
    for (Losses& each : losses_) each.watch.step(seen, names_[each.organ], log);
  }

  double progress() const override { return ducts_.progress(); }

  void say(std::string& hint, std::string& warning) const override {
    ducts_.say(hint, warning);
    if (!warning_.empty()) warning = warning_;
  }

  void add_metrics(PartList& parts) const override {
    ducts_.add_metrics(parts);
    parts.add("task_other_cuts", "Cuts in organs that are not ducts", "", double(cuts_.count), 0.0, 3.0);
    double blood = 0.0, most = 0.0;
    for (const Losses& each : losses_) blood += each.watch.blood(), most += each.watch.most_blood();
    if (most > 0.0) parts.add("task_blood", "Blood lost", "ml", blood, 0.1 * most, most);
  }

  void draw(DrawnMarks& marks) const override { ducts_.draw(positions_, marks); }

 private:
  struct Losses {
    std::uint32_t organ;
    LossWatch watch;
  };
  std::vector<std::string> names_;  // [organ]
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> positions_;  // [target] m
  DuctWatch ducts_;
  CutWatch cuts_;
  std::vector<Losses> losses_;  // [limit]
  std::string warning_;
};

}  // namespace

std::unique_ptr<TaskGoal> make_clip_and_cut(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<ClipAndCut>(task, stage);
}

}  // namespace trocar
