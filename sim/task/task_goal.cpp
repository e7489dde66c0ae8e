#include "sim/task/task_goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "geometry/error.hpp"
#include "sim/session/surface_marks.hpp"

namespace trocar {

std::uint32_t organ_of(const TaskStage& stage, const std::string& name) {
  const auto found = std::find(stage.organs.begin(), stage.organs.end(), name);
  if (found == stage.organs.end())
    throw InputError(fmt::format("the task's organ '{}' is not in the scene; add it or correct the name", name));
  return static_cast<std::uint32_t>(found - stage.organs.begin());
}

std::size_t instrument_of(const TaskStage& stage, const std::string& name) {
  const auto found = std::find(stage.instruments.begin(), stage.instruments.end(), name);
  if (found == stage.instruments.end())
    throw InputError(fmt::format("the task's instrument '{}' is not in the scene; add it or correct the name", name));
  return static_cast<std::size_t>(found - stage.instruments.begin());
}

std::vector<std::size_t> tools_of(const TaskScene& task, const TaskStage& stage) {
  if (!task.instrument.empty()) return {instrument_of(stage, task.instrument)};
  std::vector<std::size_t> tools(stage.instruments.size());
  std::iota(tools.begin(), tools.end(), std::size_t{0});
  return tools;
}

std::vector<SurfaceMark> marks_of(const TaskScene& task, const TaskStage& stage) {
  std::vector<SurfaceMark> marks;
  for (const TaskTarget& location : task.locations) {
    const std::uint32_t organ = organ_of(stage, location.organ);
    marks.push_back(nearest_mark(organ, stage.surfaces[organ], location.location));
  }
  return marks;
}

}  // namespace trocar
