// Implements the task "clip and cut": ducts and vessels are closed by clips on both sides of a target and divided
// between them. Sides, clips and divisions come from the tissue (sim/session/session_clips.hpp). A cut without a clip
// on both sides, and a cut or clip on another duct, are critical errors: they end the task. Rules and sources:
// docs/tasks.md.   Tested in tests/sim/clip_and_cut_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

// Shares of a structure's progress.
constexpr double kForStaying = 0.3, kForLeaving = 0.2;  // 1, by clips on either side; the division gives 0.5

// A duct or vessel that is to be divided.
struct Structure {
  std::uint32_t organ = 0;
  double along = 0.0;   // m, of the target on its line
  bool starts = false;  // the part with the start of its line stays
  bool divided = false;
  std::size_t staying = 0, leaving = 0;  // closing clips on the part that stays, and on the other
  double miss = 0.0;                     // m, of the division from the target

  bool done(const TaskRules& rules) const { return divided && double(staying) >= rules.clips_staying; }
  double progress(const TaskRules& rules) const {
    const double stays = std::min(double(staying) / rules.clips_staying, 1.0);
    return kForStaying * stays + kForLeaving * double(leaving > 0) +
           (1.0 - kForStaying - kForLeaving) * double(divided);
  }
};

class ClipAndCut final : public TaskGoal {
 public:
  ClipAndCut(const TaskScene& task, const TaskStage& stage)
      : task_(task), names_(stage.organs), is_tube_(stage.organs.size()), marks_(marks_of(task, stage)) {
    for (std::size_t k = 0; k < stage.lines.size(); ++k) is_tube_[k] = !stage.lines[k].empty();
    for (const TaskTarget& target : task.locations) {
      const std::uint32_t organ = organ_of(stage, target.organ);
      if (!is_tube_[organ])
        throw InputError(
            fmt::format("the task's organ '{}' is not a duct or vessel; give it an [organ.tube]", target.organ));
      structures_.push_back(
          {organ, along_line(stage.lines[organ], glm::dvec3(target.location)), target.stays == TubeSide::Start});
    }
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double, TaskLog& log) override {
    positions_.assign(seen.marks.begin(), seen.marks.end());
    watch_clips(seen, log);
    watch_divisions(seen, log);
    for (Structure& structure : structures_) count_clips(seen, structure);
    for (std::size_t k = 0; k < seen.organs.size(); ++k)
      if (!is_tube_[k]) watch_tissue(seen, k, log);
  }

  double progress() const override {
    double sum = 0.0;
    for (const Structure& structure : structures_) sum += structure.progress(task_.rules);
    return sum / double(structures_.size());
  }

  void say(std::string& hint, std::string& warning) const override {
    auto to = std::back_inserter(hint);
    const Structure* next = current();
    if (!next) return;
    const std::string& name = names_[next->organ];
    if (double(next->staying) < task_.rules.clips_staying) {
      fmt::format_to(to, "{}: clip {} of {:.0f} on the side that stays", name, next->staying + 1,
                     task_.rules.clips_staying);
    } else if (next->leaving == 0) {
      fmt::format_to(to, "{}: a clip on the other side of the target", name);
    } else {
      fmt::format_to(to, "{}: cut between the clips", name);
    }
    warning += warning_;
  }

  void add_metrics(PartList& parts) const override {
    double miss = 0.0;
    for (const Structure& structure : structures_) miss = std::max(miss, structure.miss);
    const double needed = double(structures_.size()) * (task_.rules.clips_staying + 1.0);
    parts.add("task_clips", "Clips used", "", double(known_), needed, 2.0 * needed);
    parts.add("task_bad_clips", "Clips that do not close a duct", "", double(bad_clips_), 0.0, 3.0);
    parts.add("task_cut_miss", "Cut from target", "mm", 1e3 * miss, 1e3 * task_.tolerance, 3e3 * task_.tolerance);
    parts.add("task_other_cuts", "Cuts in other tissue", "", double(other_cuts_), 0.0, 3.0);
  }

  void draw(DrawnMarks& marks) const override {
    const Structure* next = current();
    for (std::size_t k = 0; k < structures_.size() && k < positions_.size(); ++k) {
      const MarkState state = structures_[k].divided    ? MarkState::Done
                              : &structures_[k] == next ? MarkState::Next
                                                        : MarkState::Waiting;
      marks.targets.push_back({positions_[k], static_cast<float>(task_.tolerance), state});
    }
  }

 private:
  const Structure* current() const {
    const auto found =
        std::ranges::find_if(structures_, [&](const Structure& each) { return !each.done(task_.rules); });
    return found == structures_.end() ? nullptr : &*found;
  }
  Structure* structure_on(std::uint32_t organ) {
    const auto found = std::ranges::find(structures_, organ, &Structure::organ);
    return found == structures_.end() ? nullptr : &*found;
  }

  void complain(const Observation& seen, std::string text, TaskLog& log) {
    warning_ = text;
    log.error(seen.time, std::move(text));
  }

  void watch_clips(const Observation& seen, TaskLog& log) {
    for (; known_ < seen.clips.size(); ++known_) {
      const PlacedClip& placed = seen.clips[known_];
      was_on_.push_back(placed.on());
      if (placed.clip.organ == kNoOrgan) {
        ++bad_clips_;
        complain(seen, "a clip closed on nothing", log);
      } else if (is_tube_[placed.clip.organ] && !structure_on(placed.clip.organ)) {
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

  void watch_divisions(const Observation& seen, TaskLog& log) {
    divided_.resize(names_.size());
    for (std::uint32_t k = 0; k < seen.tubes.size() && k < names_.size(); ++k) {
      if (!seen.tubes[k].divided || divided_[k]) continue;
      divided_[k] = true;
      if (Structure* structure = structure_on(k)) {
        divide(seen, seen.tubes[k], *structure, log);
      } else {
        log.critical(seen.time, fmt::format("{} cut", names_[k]));
      }
    }
  }

  void divide(const Observation& seen, const TubeState& tube, Structure& structure, TaskLog& log) {
    const std::string& name = names_[structure.organ];
    structure.divided = true;
    structure.miss = std::abs(double(tube.at) - structure.along);
    const std::size_t staying = structure.starts ? tube.clips_at_start : tube.clips_at_end;
    if (tube.clips_at_start == 0 || tube.clips_at_end == 0)
      return log.critical(seen.time, fmt::format("{} cut without a clip on both sides", name));
    log.note(seen.time, fmt::format("{} divided between clips", name));
    if (double(staying) < task_.rules.clips_staying)
      complain(seen,
               fmt::format("{}: {} of {:.0f} clips on the side that stays", name, staying, task_.rules.clips_staying),
               log);
  }

  // Before the division, the target separates the sides.
  void count_clips(const Observation& seen, Structure& structure) const {
    if (structure.divided) {
      const TubeState& tube = seen.tubes[structure.organ];
      structure.staying = structure.starts ? tube.clips_at_start : tube.clips_at_end;
      structure.leaving = structure.starts ? tube.clips_at_end : tube.clips_at_start;
      return;
    }
    structure.staying = structure.leaving = 0;
    for (const PlacedClip& placed : seen.clips) {
      if (!placed.on() || placed.clip.organ != structure.organ || placed.closed < kClosesTube) continue;
      const bool before = double(placed.along) < structure.along;
      ++(before == structure.starts ? structure.staying : structure.leaving);
    }
  }

  // A cut that lasts several frames counts once.
  void watch_tissue(const Observation& seen, std::size_t organ, TaskLog& log) {
    constexpr double kPause = 0.5;  // s
    if (seen.organs[organ].faces_removed == 0) return;
    if (seen.time > last_other_cut_ + kPause) {
      ++other_cuts_;
      complain(seen, fmt::format("the {} is cut", names_[organ]), log);
    }
    last_other_cut_ = seen.time;
  }

  TaskScene task_;
  std::vector<std::string> names_;       // [organ]
  std::vector<char> is_tube_, divided_;  // [organ]
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> positions_;   // [structure] m, of its target
  std::vector<Structure> structures_;  // in the task's order
  std::vector<char> was_on_;           // [clip]
  std::size_t known_ = 0, bad_clips_ = 0, other_cuts_ = 0;
  double last_other_cut_ = -INFINITY;  // s
  std::string warning_;
};

}  // namespace

std::unique_ptr<TaskGoal> make_clip_and_cut(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<ClipAndCut>(task, stage);
}

}  // namespace trocar
