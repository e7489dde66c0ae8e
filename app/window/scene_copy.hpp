// Names a copy of a scene: a free file name and a title of its own, so that the copy is not taken for the original.
// Tested in tests/app/window_editor_test.cpp
#pragma once

#include <filesystem>
#include <string>

#include "sim/scene/scene.hpp"

namespace trocar {

struct SceneCopy {
  std::filesystem::path file;  // does not exist yet
  Scene scene;                 // with the title of the copy; `file` of the original, the base of its paths
};

// "touch_targets.toml", "Touch the targets" -> "touch_targets-edited-2.toml", "Touch the targets (edited 2)". A copy of
// a copy continues the numbers.
SceneCopy copy_of(const Scene& scene, const std::filesystem::path& folder);

}  // namespace trocar
