// Applies a level of a scene's task: the same scene, harder. The result is an ordinary scene, whose text a recording
// stores. Levels and what the scripted trainees make of them: docs/tasks.md, "Levels".   Tested in
// tests/sim/level_test.cpp
#pragma once

#include <optional>
#include <string>

#include "sim/scene/scene.hpp"

namespace trocar {

// Returns the number of levels: 1, the scene as written, and one for each [[task.level]]. A scene without a task has 1.
int levels_of(const Scene& scene);

// Returns the name of a level, empty for level 1. `number`: 1 to levels_of().
std::string level_name(const Scene& scene, int number);

// Returns the scene at this level, without [[task.level]]; its task names the level (`at_level`). Without a number, and
// for level 1, returns the scene unchanged. Throws InputError when the scene does not have this level.
Scene with_level(const Scene& scene, const std::optional<int>& number);

}  // namespace trocar
