#include "sim/scene/task_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "geometry/error.hpp"
#include "geometry/planar/polygon.hpp"
#include "sim/scene/key_reader.hpp"

namespace trocar {
namespace {

void check_instrument(TomlTable& table, const std::vector<InstrumentScene>& instruments, const TaskScene& task) {
  if (task.instrument.empty() && task.kind == TaskKind::LiftOrgan)
    table.fail("instrument", "is missing; name a grasper");
  if (task.instrument.empty() && task.kind == TaskKind::BurnLine) table.fail("instrument", "is missing; name a hook");
  if (task.instrument.empty()) return;
  if (task.kind == TaskKind::NavigateCamera)
    table.fail("instrument", "must be absent for navigate-camera, which uses the scope");
  const auto named = [&](const InstrumentScene& instrument) { return instrument.name == task.instrument; };
  const auto found = std::find_if(instruments.begin(), instruments.end(), named);
  if (found == instruments.end())
    table.fail("instrument", fmt::format("the scene has no instrument '{}'; it has {}", printable(task.instrument),
                                         names_of(instruments)));
  if (task.kind == TaskKind::LiftOrgan && found->kind != InstrumentKind::Grasper)
    table.fail("instrument", "must be a grasper to lift an organ");
  if (task.kind == TaskKind::BurnLine && found->kind != InstrumentKind::Hook)
    table.fail("instrument", "must be a hook to burn");
}

void refuse_targets_without_tube(TomlTable& table, const std::vector<OrganScene>& organs, const TaskScene& task) {
  for (const TaskTarget& target : task.locations) {
    const auto organ = std::ranges::find(organs, target.organ, &OrganScene::name);
    if (organ != organs.end() && !organ->tube)
      table.fail("place", fmt::format("{} needs a duct or vessel, but {} has no [organ.tube]", name_of(task.kind),
                                      printable(target.organ)));
    if (std::ranges::count(task.locations, target.organ, &TaskTarget::organ) > 1)
      table.fail("place", fmt::format("{} divides {} only once; remove one [[task.place]]", name_of(task.kind),
                                      printable(target.organ)));
  }
}

void refuse_missing_kinds(TomlTable& table, const std::vector<InstrumentScene>& instruments, const TaskScene& task) {
  const auto require = [&](InstrumentKind kind) {
    if (std::ranges::count(instruments, kind, &InstrumentScene::kind) == 0)
      table.fail("kind", fmt::format("{} needs an instrument of the kind {}", name_of(task.kind), name_of(kind)));
  };
  if (std::ranges::count(task.steps, StepKind::Dissect, &TaskStep::kind) > 0) require(InstrumentKind::Hook);
  if (!divides_ducts(task)) return;
  if (task.rules.clips_staying > 0.0) require(InstrumentKind::ClipApplier);
  require(InstrumentKind::Scissors);
}

void check_steps(TomlTable& table, const TaskScene& task) {
  const bool operation = task.kind == TaskKind::Operation;
  if (operation && task.steps.empty()) table.fail("step", "is missing; an operation needs at least one [[task.step]]");
  if (!operation && !task.steps.empty()) table.fail("step", "must be absent; only an operation has steps");
  if (!operation && !task.limits.empty()) table.fail("limit", "must be absent; only an operation has limits");
  if (operation && !divides_ducts(task) && !task.locations.empty())
    table.fail("place", "must be absent; an operation has targets only for a step of the kind divide");
  for (const StepKind kind : {StepKind::Divide, StepKind::Remove})
    if (std::ranges::count(task.steps, kind, &TaskStep::kind) > 1)
      table.fail("step", fmt::format("an operation has at most one step of the kind {}", name_of(kind)));
}

void refuse_wrong_targets(TomlTable& table, const std::vector<OrganScene>& organs, const TaskScene& task) {
  const bool along = task.kind == TaskKind::FollowCurve || task.kind == TaskKind::BurnLine;
  if (divides_ducts(task)) refuse_targets_without_tube(table, organs, task);
  if (task.locations.empty() && (task.kind != TaskKind::Operation || divides_ducts(task)))
    table.fail("place", "is missing; a task needs at least one [[task.place]]");
  if (along && task.locations.size() < 2) table.fail("place", "a line needs at least two [[task.place]]");
  if (task.kind == TaskKind::LiftOrgan && task.locations.size() > 1)
    table.fail("place", "lift-organ takes one [[task.place]], the point to grasp");
  for (const TaskTarget& target : task.locations)
    if (along && target.organ != task.locations.front().organ)
      table.fail("place", fmt::format("a line must lie on one organ, but this one lies on {} and {}",
                                      task.locations.front().organ, target.organ));
  if (task.kind == TaskKind::KeepOut && task.zones.empty())
    table.fail("zone", "is missing; keep-out needs at least one [[task.zone]]");
}

}  // namespace

const std::vector<std::string>& task_kind_names() {
  static const std::vector<std::string> names = {"touch-targets", "navigate-camera", "follow-curve", "lift-organ",
                                                 "burn-line",     "keep-out",        "clip-and-cut", "operation"};
  return names;
}

std::string_view name_of(StepKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"retract", "dissect", "divide", "remove"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(TubeSide side) { return side == TubeSide::Start ? "start" : "end"; }

bool divides_ducts(const TaskScene& task) {
  return task.kind == TaskKind::ClipAndCut ||
         (task.kind == TaskKind::Operation && std::ranges::count(task.steps, StepKind::Divide, &TaskStep::kind) > 0);
}

std::string_view name_of(TaskKind kind) { return task_kind_names()[static_cast<std::size_t>(kind)]; }

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskTarget& target) {
  refuse_unknown_organ(origin, table, "organ", target.organ);
}

template <>
void check(const SceneOrigin&, TomlTable& table, const TaskZone& zone) {
  if (const std::string fault = planar::simple_fault(zone.outline); !fault.empty())
    table.fail("outline", fmt::format("is not a simple polygon: {}", fault));
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const StepTissue& tissue) {
  if (has_name(origin.scene->layers, tissue.name) || has_name(origin.scene->bands, tissue.name)) return;
  const std::string layers = names_of(origin.scene->layers), bands = names_of(origin.scene->bands);
  table.fail("name", fmt::format("the scene has no layer or band '{}'; it has {}{}{}", printable(tissue.name), layers,
                                 layers.empty() || bands.empty() ? "" : ", ", bands));
}

void refuse_no_grasper(const SceneOrigin& origin, TomlTable& table, const std::string& name) {
  const auto grasper = std::ranges::find(origin.scene->instruments, name, &InstrumentScene::name);
  if (!name.empty() && (grasper == origin.scene->instruments.end() || grasper->kind != InstrumentKind::Grasper))
    table.fail("instrument", "must name a grasper of the scene");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const StepPull& pull) {
  refuse_no_grasper(origin, table, pull.instrument);
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskStep& step) {
  const bool moves = step.kind == StepKind::Retract || step.kind == StepKind::Remove;
  if (moves && step.organ.empty()) table.fail("organ", "is missing; name the organ that is moved");
  if (!moves && !step.organ.empty()) table.fail("organ", "must be absent; only retract and remove move an organ");
  if (moves) refuse_unknown_organ(origin, table, "organ", step.organ);
  refuse_no_grasper(origin, table, step.instrument);
  if (moves && std::ranges::count(origin.scene->instruments, InstrumentKind::Grasper, &InstrumentScene::kind) == 0)
    table.fail("kind", "to move an organ the scene needs a grasper");
  if (!(glm::length(step.direction) > 0.f)) table.fail("direction", "must not be zero");
  if (step.kind == StepKind::Dissect && step.tissue.empty())
    table.fail("tissue", "is missing; a step of the kind dissect needs at least one [[task.step.tissue]]");
  if (step.kind != StepKind::Dissect && !step.tissue.empty())
    table.fail("tissue", "must be absent; only dissect divides connective tissue");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskLimit& limit) {
  refuse_unknown_organ(origin, table, "organ", limit.organ);
  const auto organ = std::ranges::find(origin.scene->organs, limit.organ, &OrganScene::name);
  if (organ == origin.scene->organs.end()) return;
  if (limit.most_blood_ml > 0.0 && !organ->vessel && !organ->blood)
    table.fail("most_blood_ml",
               fmt::format("{} cannot bleed; give it an [organ.vessel] or [organ.blood]", printable(limit.organ)));
  if (limit.most_bile_ml > 0.0 && !organ->bile)
    table.fail("most_bile_ml", fmt::format("{} holds no bile; give it an [organ.bile]", printable(limit.organ)));
}

// The task's own values are read already, because its levels are declared last.
template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskLevel& level) {
  const TaskScene& task = *origin.scene->task;
  if (level.name.empty() || printable(level.name) != level.name)
    table.fail("name", "must be 1 to 60 printable characters on one line");
  const double good = level.time_good.value_or(task.time_good), limit = level.time_limit.value_or(task.time_limit);
  if (limit <= good)
    table.fail(level.time_limit ? "time_limit_s" : "time_good_s",
               fmt::format("time_limit_s = {:g} must be more than time_good_s = {:g} in this level too", limit, good));
  if (level.lift && task.kind != TaskKind::LiftOrgan)
    table.fail("lift_mm", "must be absent; only lift-organ has this height");
  if (level.scope_angle_deg && *level.scope_angle_deg != 0.f && *level.scope_angle_deg != 30.f)
    table.fail("scope_angle_deg", "must be 0 or 30");
  if (level.scope_eye && *level.scope_eye == origin.scene->scope.target)
    table.fail("scope_eye_mm", "is the same point as target_mm of [scope], so the scope has no viewing direction");
  if (level.scope_eye && !task.zones.empty())
    table.fail("scope_eye_mm",
               "must be absent; the zones of this task lie in the picture and would cover other tissue");
  if (level.swap_trocars && origin.scene->instruments.size() < 2)
    table.fail("swap_trocars", "needs two instruments; the scene has one");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const TaskScene& task) {
  check_instrument(table, origin.scene->instruments, task);
  if (task.time_limit <= task.time_good)
    table.fail(
        table.has("time_limit_s") ? "time_limit_s" : "time_good_s",
        fmt::format("time_limit_s = {:g} must be more than time_good_s = {:g}", task.time_limit, task.time_good));
  if (task.levels.size() >= std::size_t{kMostLevels})
    table.fail("level", fmt::format("a task has at most {} levels", kMostLevels));
  check_steps(table, task);
  refuse_missing_kinds(table, origin.scene->instruments, task);
  refuse_wrong_targets(table, origin.scene->organs, task);
}

}  // namespace trocar
