#include "sim/review/score_task.hpp"

#include <algorithm>

#include "sim/review/recording_observer.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_all_of(const TaskStage& stage, const TaskScene& task) {
  const auto there = [&](const TaskTarget& location) { return has(stage.organs, location.organ); };
  return std::all_of(task.locations.begin(), task.locations.end(), there) &&
         (task.instrument.empty() || has(stage.instruments, task.instrument));
}

}  // namespace

std::optional<TaskResult> score_task(const Recording& recording) {
  const std::string text = recording.text("scene");
  if (text.empty()) return {};
  const Scene scene = parse_recorded_scene(text, "scene of the recording");
  if (!scene.task) return {};
  std::vector<OrganSurface> surfaces;
  const TaskStage stage = stage_of(recording, scene, surfaces);
  if (!has_all_of(stage, *scene.task)) return {};
  TaskRun run(*scene.task, stage);
  RecordingObserver observer(recording, scene.scope, run.marks());
  for (std::size_t frame = 0; frame < recording.frame_count() && !run.feed().finished; ++frame)
    run.step(observer.observe(frame));
  return run.result();
}

}  // namespace trocar
