// A panel in which the user chooses a scene to edit: one of the list, a file of the user's folder, or a typed one.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/window/screens/scene_list.hpp"

namespace trocar {

class SceneOpenPanel {
 public:
  // `listed`: of the start screen. `folder`: of the user's own scenes.
  void open(const std::vector<ListedScene>& listed, const std::filesystem::path& folder, SceneAccess access);
  bool is_open() const { return open_; }
  // Returns the file of a scene that can be loaded, once. `escape`: closes the panel.
  std::optional<std::filesystem::path> draw(bool escape);
  const std::string& fault() const { return fault_; }

 private:
  struct Entry {
    std::string title;
    std::filesystem::path file;
  };
  std::optional<std::filesystem::path> checked(const std::filesystem::path& file);

  std::vector<Entry> entries_;
  SceneAccess access_;
  std::string typed_, fault_;
  bool open_ = false;
};

}  // namespace trocar
