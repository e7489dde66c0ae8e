#include "sim/scene/level.hpp"

#include <fmt/format.h>

#include <utility>

#include "geometry/error.hpp"
#include "sim/scene/scene_writer.hpp"

namespace trocar {
namespace {

template <typename Value, typename Given>
void replace(Value& value, const std::optional<Given>& given) {
  if (given) value = static_cast<Value>(*given);
}

void apply_to_task(const TaskLevel& level, TaskScene& task) {
  replace(task.tolerance, level.tolerance);
  replace(task.hold, level.hold);
  replace(task.lift, level.lift);
  replace(task.most_force, level.most_force);
  replace(task.most_tremor, level.most_tremor);
  replace(task.time_good, level.time_good);
  replace(task.time_limit, level.time_limit);
}

void apply_to_view(const TaskLevel& level, ScopeScene& scope) {
  replace(scope.eye, level.scope_eye);
  replace(scope.angle_deg, level.scope_angle_deg);
  replace(scope.spin_deg, level.scope_spin_deg);
}

// The order of the instruments stays, because devices are assigned by it.
void swap_trocars(InstrumentScene& a, InstrumentScene& b) {
  std::swap(a.pivot, b.pivot);
  std::swap(a.tip, b.tip);
  std::swap(a.axis, b.axis);
}

}  // namespace

int levels_of(const Scene& scene) { return scene.task ? 1 + static_cast<int>(scene.task->levels.size()) : 1; }

std::string level_name(const Scene& scene, int number) {
  return number < 2 ? "" : scene.task->levels[static_cast<std::size_t>(number - 2)].name;
}

Scene with_level(const Scene& scene, const std::optional<int>& number) {
  if (!number || *number == 1) return scene;
  const int last = levels_of(scene);
  if (last == 1)
    throw InputError(
        fmt::format("{}: the scene has no [[task.level]], so only level 1; leave --level out", scene.file.string()));
  if (*number < 1 || *number > last)
    throw InputError(
        fmt::format("{}: the scene has no level {}; it has levels 1 to {}", scene.file.string(), *number, last));
  Scene levelled = scene;
  const TaskLevel level = scene.task->levels[static_cast<std::size_t>(*number - 2)];
  levelled.task->levels.clear();
  levelled.task->at_level = *number;
  apply_to_task(level, *levelled.task);
  apply_to_view(level, levelled.scope);
  replace(levelled.breathing.amplitude, level.breathing_amplitude);
  replace(levelled.breathing.rate, level.breathing_rate);
  if (level.swap_trocars) swap_trocars(levelled.instruments[0], levelled.instruments[1]);
  levelled.title += fmt::format(" (level {}: {})", *number, level.name);
  return parse_scene(fmt::format("# Level {}: {}.\n", *number, level.name) + scene_text(levelled, scene.file),
                     scene.file);
}

}  // namespace trocar
