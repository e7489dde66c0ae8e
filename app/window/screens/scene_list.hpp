// Lists the scenes that the user can choose. Each file is read once; an invalid scene keeps its error message.
// Tested in tests/app/window_state_test.cpp
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/course/curriculum.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

// In the order of the list. Procedure: an operation of several steps. Own: a scene of the user.
enum class SceneGroup { Task, Procedure, Practice, Own };

struct ListedScene {
  std::filesystem::path file;
  Scene scene;        // empty when invalid
  std::string title;  // of the task, else of the scene, else the file's name
  std::string fault;  // error with file, line, key; empty: none
  SceneGroup group = SceneGroup::Practice;
  bool task() const { return scene.task.has_value(); }
};

// Returns every .toml file directly in these folders: by group, then by path. Missing folders are skipped.
std::vector<ListedScene> list_scenes(const std::vector<std::filesystem::path>& folders);
// Sorts scenes by group and, within a group, by difficulty: in the order in which the curriculum first names them; the
// others follow, by path.
void sort_scenes(std::vector<ListedScene>& scenes, const Curriculum& curriculum);
ListedScene listed_scene(const std::filesystem::path& file, const SceneAccess& access = {});

// Describes a scene, for example "Liver, stomach. Grasper, burner (hook). Scope of 0 degrees."
std::string preview_of(const Scene& scene);
// Returns the title of a kind of task, for example "Touch the targets".
std::string title_of(TaskKind kind);

}  // namespace trocar
