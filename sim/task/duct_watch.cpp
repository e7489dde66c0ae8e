#include "sim/task/duct_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "mesh/tube_shape.hpp"

namespace trocar {
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
      divided_(stage.organs.size()) {
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

void DuctWatch::say(std::string& hint, std::string& warning) const {
  auto to = std::back_inserter(hint);
  const DuctTarget* next = current();
  if (!next) return;
  const std::string& name = names_[next->organ];
  if (double(next->staying) < rules_.clips_staying) {
    fmt::format_to(to, "{}: clip {} of {:.0f} on the side that stays", name, next->staying + 1, rules_.clips_staying);
  } else if (rules_.clips_staying == 0.0) {
    fmt::format_to(to, "{}: cut at the target", name);
  } else if (next->leaving == 0) {
    fmt::format_to(to, "{}: a clip on the other side of the target", name);
  } else {
    fmt::format_to(to, "{}: cut between the clips", name);
  }
  warning += warning_;
}

void DuctWatch::add_metrics(PartList& parts) const {
  double miss = 0.0;
  for (const DuctTarget& target : targets_) miss = std::max(miss, target.miss);
  if (rules_.clips_staying > 0.0) {
    const double needed = double(targets_.size()) * (rules_.clips_staying + 1.0);
    parts.add("task_clips", "Clips used", "", double(known_), needed, 2.0 * needed);
    parts.add("task_bad_clips", "Clips that do not close a duct", "", double(bad_clips_), 0.0, 3.0);
  }
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
      complain(seen, "a clip closed on nothing", log);
    } else if (is_tube_[placed.clip.organ] && !target_on(placed.clip.organ)) {
      log.critical(seen.time, fmt::format("a clip on the {}", names_[placed.clip.organ]));
    } else if (placed.closed < kClosesTube) {
      ++bad_clips_;
      complain(seen, fmt::format("a clip does not close the {}", names_[placed.clip.organ]), log);
    } else {
      warning_.clear();
      log.note(seen.time, fmt::format("clip on the {}", names_[placed.clip.organ]));
    }
  }
  for (std::size_t k = 0; k < known_; ++k) {
    if (was_on_[k] && !seen.clips[k].on()) complain(seen, "a clip came off", log);
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
      log.critical(seen.time, fmt::format("{} cut", names_[k]));
    }
  }
}

void DuctWatch::divide(const Observation& seen, const TubeState& tube, DuctTarget& target, TaskLog& log) {
  const std::string& name = names_[target.organ];
  target.divided = true;
  target.miss = std::abs(double(tube.at) - target.along);
  const std::size_t staying = target.starts ? tube.clips_at_start : tube.clips_at_end;
  if (rules_.clips_staying > 0.0 && (tube.clips_at_start == 0 || tube.clips_at_end == 0))
    return log.critical(seen.time, fmt::format("{} cut without a clip on both sides", name));
  log.note(seen.time, fmt::format("{} divided{}", name, rules_.clips_staying > 0.0 ? " between clips" : ""));
  if (double(staying) < rules_.clips_staying)
    complain(seen, fmt::format("{}: {} of {:.0f} clips on the side that stays", name, staying, rules_.clips_staying),
             log);
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

}  // namespace trocar
