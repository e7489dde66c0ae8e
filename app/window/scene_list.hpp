// The scenes there are to choose from: read once, a faulty one with the sentence that says what is wrong with it.
// Tested in tests/app/window_state_test.cpp
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/scene/scene_access.hpp"

namespace trocar {

struct ListedScene {
  std::filesystem::path file;
  Scene scene;        // empty when faulty
  std::string title;  // of the scene; the file's name where it has none
  std::string fault;  // file, line, key; empty: none
  bool task() const { return scene.task.has_value(); }
};

// Every .toml right below the folders: tasks first, each kind by file name. A folder that is not there is skipped.
std::vector<ListedScene> list_scenes(const std::vector<std::filesystem::path>& folders);
ListedScene listed_scene(const std::filesystem::path& file, const SceneAccess& access = {});

// "Liver, stomach. Grasper (mouse), hook (mouse). Scope of 0 degrees."
std::string preview_of(const Scene& scene);
// "Touch the targets"
std::string title_of(TaskKind kind);

}  // namespace trocar
