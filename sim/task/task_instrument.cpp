#include "sim/task/task_instrument.hpp"

#include <algorithm>

namespace trocar {

std::size_t instrument_of_task(const Scene& scene) {
  if (!scene.task) return 0;
  if (scene.task->kind == TaskKind::NavigateCamera) return scene.instruments.size();
  std::string name = scene.task->instrument;
  for (const TaskStep& step : scene.task->steps)
    if (name.empty()) name = step.instrument;
  const auto found = std::ranges::find(scene.instruments, name, &InstrumentScene::name);
  return found == scene.instruments.end() ? 0 : static_cast<std::size_t>(found - scene.instruments.begin());
}

}  // namespace trocar
