#include "sim/scene/task_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "geometry/planar/polygon.hpp"
#include "geometry/printable.hpp"
#include "sim/support/limits.hpp"

namespace trocar {
namespace {

constexpr Limits kPositionMm{-kFarthestPlace * 1e3, kFarthestPlace * 1e3};

template <typename Named>
bool has_name(const std::vector<Named>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const Named& named) { return named.name == name; });
}

template <typename Named>
std::string names_of(const std::vector<Named>& list) {
  std::string names;
  for (const Named& named : list) names += (names.empty() ? "" : ", ") + named.name;
  return names;
}

TaskKind read_kind(TomlTable& table) {
  const auto& names = task_kind_names();
  const auto found = std::find(names.begin(), names.end(), table.text("kind"));
  if (found == names.end()) table.fail("kind", fmt::format("must be one of {}", fmt::join(names, ", ")));
  return static_cast<TaskKind>(found - names.begin());
}

TaskPlace read_target(TomlTable& table, const std::vector<OrganScene>& organs) {
  TaskPlace target;
  target.organ = table.text("organ");
  if (!has_name(organs, target.organ))
    table.fail("organ",
               fmt::format("the scene has no organ '{}'; it has {}", printable(target.organ), names_of(organs)));
  target.place = glm::vec3(table.vector("at_mm", kPositionMm) * 1e-3);
  table.refuse_unknown_keys();
  return target;
}

TaskZone read_zone(TomlTable& table) {
  TaskZone zone{table.points("outline")};
  if (const std::string fault = planar::simple_fault(zone.outline); !fault.empty())
    table.fail("outline", fmt::format("is not a simple polygon: {}", fault));
  table.refuse_unknown_keys();
  return zone;
}

void read_instrument_of(TomlTable& table, const std::vector<InstrumentScene>& instruments, TaskScene& task) {
  table.optional("instrument", task.instrument);
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

void read_limits_of(TomlTable& table, TaskScene& task) {
  const auto optional_mm = [&](std::string_view key, double& value, Limits limits_mm) {
    if (!table.has(key)) return;
    value = table.number(key, limits_mm) * 1e-3;
  };
  optional_mm("tolerance_mm", task.tolerance, {0.1, 100.0});
  table.optional("hold_s", task.hold, {0.0, 60.0});
  optional_mm("lift_mm", task.lift, {0.1, 200.0});
  table.optional("most_force_n", task.most_force, {0.01, 100.0});
  table.optional("time_good_s", task.time_good, {0.1, 36000.0});
  table.optional("time_limit_s", task.time_limit, {0.1, 36000.0});
  if (task.time_limit <= task.time_good)
    table.fail(
        table.has("time_limit_s") ? "time_limit_s" : "time_good_s",
        fmt::format("time_limit_s = {:g} must be more than time_good_s = {:g}", task.time_limit, task.time_good));
}

void refuse_wrong_targets(TomlTable& table, const TaskScene& task) {
  const bool along = task.kind == TaskKind::FollowCurve || task.kind == TaskKind::BurnLine;
  if (task.places.empty()) table.fail("place", "is missing; a task needs at least one [[task.place]]");
  if (along && task.places.size() < 2) table.fail("place", "a line needs at least two [[task.place]]");
  if (task.kind == TaskKind::LiftOrgan && task.places.size() > 1)
    table.fail("place", "lift-organ takes one [[task.place]], the point to grasp");
  for (const TaskPlace& target : task.places)
    if (along && target.organ != task.places.front().organ)
      table.fail("place", fmt::format("a line must lie on one organ, but this one lies on {} and {}",
                                      task.places.front().organ, target.organ));
  if (task.kind == TaskKind::KeepOut && task.zones.empty())
    table.fail("zone", "is missing; keep-out needs at least one [[task.zone]]");
}

}  // namespace

const std::vector<std::string>& task_kind_names() {
  static const std::vector<std::string> names = {"touch-targets", "navigate-camera", "follow-curve",
                                                 "lift-organ",    "burn-line",       "keep-out"};
  return names;
}

std::string_view name_of(TaskKind kind) { return task_kind_names()[static_cast<std::size_t>(kind)]; }

std::optional<TaskScene> read_task(TomlTable& root, const std::vector<OrganScene>& organs,
                                   const std::vector<InstrumentScene>& instruments) {
  const bool has_task = root.has("task");
  TomlTable table = root.table("task");
  if (!has_task) return {};
  TaskScene task;
  task.kind = read_kind(table);
  table.optional("title", task.title);
  table.optional("instructions", task.instructions);
  read_instrument_of(table, instruments, task);
  for (TomlTable& target : table.tables("place")) task.places.push_back(read_target(target, organs));
  for (TomlTable& zone : table.tables("zone")) task.zones.push_back(read_zone(zone));
  read_limits_of(table, task);
  refuse_wrong_targets(table, task);
  table.refuse_unknown_keys();
  return task;
}

}  // namespace trocar
