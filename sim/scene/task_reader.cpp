#include "sim/scene/task_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "geometry/planar/polygon.hpp"
#include "geometry/printable.hpp"
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
      table.fail("place", fmt::format("clip-and-cut needs a duct or vessel, but {} has no [organ.tube]",
                                      printable(target.organ)));
    if (std::ranges::count(task.locations, target.organ, &TaskTarget::organ) > 1)
      table.fail("place",
                 fmt::format("clip-and-cut divides {} only once; remove one [[task.place]]", printable(target.organ)));
  }
}

void refuse_missing_kinds(TomlTable& table, const std::vector<InstrumentScene>& instruments, const TaskScene& task) {
  if (task.kind != TaskKind::ClipAndCut) return;
  for (const InstrumentKind kind : {InstrumentKind::ClipApplier, InstrumentKind::Scissors})
    if (std::ranges::count(instruments, kind, &InstrumentScene::kind) == 0)
      table.fail("kind", fmt::format("clip-and-cut needs an instrument of the kind {}", name_of(kind)));
}

void refuse_wrong_targets(TomlTable& table, const std::vector<OrganScene>& organs, const TaskScene& task) {
  const bool along = task.kind == TaskKind::FollowCurve || task.kind == TaskKind::BurnLine;
  if (task.kind == TaskKind::ClipAndCut) refuse_targets_without_tube(table, organs, task);
  if (task.locations.empty()) table.fail("place", "is missing; a task needs at least one [[task.place]]");
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
                                                 "burn-line",     "keep-out",        "clip-and-cut"};
  return names;
}

std::string_view name_of(TubeSide side) { return side == TubeSide::Start ? "start" : "end"; }

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
void check(const SceneOrigin& origin, TomlTable& table, const TaskScene& task) {
  check_instrument(table, origin.scene->instruments, task);
  if (task.time_limit <= task.time_good)
    table.fail(
        table.has("time_limit_s") ? "time_limit_s" : "time_good_s",
        fmt::format("time_limit_s = {:g} must be more than time_good_s = {:g}", task.time_limit, task.time_good));
  refuse_missing_kinds(table, origin.scene->instruments, task);
  refuse_wrong_targets(table, origin.scene->organs, task);
}

}  // namespace trocar
