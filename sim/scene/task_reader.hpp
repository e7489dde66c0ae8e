// Names the kinds of tasks. task_reader.cpp checks what the [task] table of a scene must fulfil as a whole: the organs
// and the instrument exist in the scene, the instrument is of the right kind, zones are simple polygons, a line has at
// least two targets on one organ. Keys: docs/file-formats.md   Tested in tests/sim/task_reader_test.cpp
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scene/task_scene.hpp"

namespace trocar {

// Returns the names in the file, in the order of TaskKind.
const std::vector<std::string>& task_kind_names();
std::string_view name_of(TaskKind kind);
std::string_view name_of(TubeSide side);
std::string_view name_of(StepKind kind);
// Returns whether the task divides ducts or vessels.
bool divides_ducts(const TaskScene& task);

}  // namespace trocar
