// Lists the scenes that the user can choose: those of the program and the user's own. Each file is read once; an
// invalid scene keeps its error message.   Tested in tests/app/window_test.cpp
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
// Returns the title of a kind of task, for example "Touch the targets"; of an instrument, of the look of an organ.
std::string title_of(TaskKind kind);
std::string title_of(InstrumentKind kind);
std::string title_of(TissueLook look);

// The user's own scenes: those that the editor has saved in any folder, and those in the folder of recordings.
// They are listed again at the next start.
class OwnScenes {
 public:
  // `list`: a JSON file with the paths of saved scenes, made at the first save.
  explicit OwnScenes(std::filesystem::path list);

  // Adds a scene to the list, once. A list that cannot be written loses the scene at the next start only.
  void note(const std::filesystem::path& scene);
  // Returns the scenes that still exist: the noted ones, and the valid ones of `folder` and of the folder `scenes`
  // beside the list.
  std::vector<ListedScene> scenes(const std::filesystem::path& folder, const SceneAccess& access) const;

 private:
  std::filesystem::path list_;
  std::vector<std::filesystem::path> noted_;  // absolute
};

}  // namespace trocar
