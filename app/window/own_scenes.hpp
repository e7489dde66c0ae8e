// The user's own scenes: those that the editor has saved in any folder, and those in the folder of recordings.
// They are listed again at the next start.   Tested in tests/app/window_state_test.cpp
#pragma once

#include <filesystem>
#include <vector>

#include "app/window/screens/scene_list.hpp"

namespace trocar {

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
