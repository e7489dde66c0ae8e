// Shows the start screen, on which the user chooses scene, collision backend and devices. Tested in
// tests/app/window_path_test.sh
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/window/scene_list.hpp"
#include "app/window/screen.hpp"
#include "app/window/settings_file.hpp"
#include "sim/task/performer.hpp"

namespace trocar {

class StartScreen final : public Screen {
 public:
  // Shows the scenes. `recordings`: the folder that Open recording lists. `context` must outlive the screen.
  // `person`: id of who practises; empty: no person is named.
  StartScreen(std::vector<ListedScene> scenes, std::filesystem::path recordings, SceneAccess access, GlContext& context,
              std::string person);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;

  // Returns the selected scene with the selected devices.
  Scene scene() const;
  const std::string& backend() const { return backend_; }
  // Returns the scripted trainee of a demonstration; empty: the user practises.
  std::optional<Skill> performer() const;
  // Returns the id of the person who practises; empty: no person is named.
  const std::string& person() const { return person_; }
  const std::filesystem::path& recording() const { return recording_; }
  // Returns true if the scene connects to machines that the user has not allowed yet; the next frame then asks.
  bool must_ask();
  // Shows an error message.
  void say(std::string fault) { fault_ = std::move(fault); }
  // Selects a file's scene; adds it when it is not in the list.
  void choose(const std::filesystem::path& file);
  // Selects what was chosen last. A scene that no longer exists leaves the selection as it is.
  void restore(const LastChoice& last);
  LastChoice choice() const;

 private:
  struct RecordingFile {
    std::filesystem::path file;
    std::string label;
  };

  void select(std::size_t scene);
  Ask main_panel();
  void scene_list();
  void scene_entry(std::size_t k);
  void details();
  void choices();
  void level_choice();
  void who_choice();
  void device_choice(const char* label, std::string& device);
  Ask buttons();
  Ask recordings_panel();
  Ask hosts_panel();
  void list_recordings();

  std::vector<ListedScene> scenes_;
  std::filesystem::path folder_, recording_;
  SceneAccess access_;
  std::vector<std::string> asked_hosts_;  // hosts of the open question; empty: none
  Backends backends_;
  std::size_t selected_ = 0, who_ = 0;
  int level_ = 1;                     // of the task
  int fresh_ = 0;                     // frames after the panel opens in which focus does not select a scene
  std::vector<std::string> devices_;  // [instrument], then the scope's
  std::string backend_ = "auto", why_, person_, fault_, typed_;
  std::vector<RecordingFile> recordings_;
  bool choosing_recording_ = false, enter_ = false, escape_ = false;
};

}  // namespace trocar
