// The first screen: what to practise, on which backend, with which devices. Tested in tests/app/window_path_test.sh
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/backend/backends.hpp"
#include "app/task/performer.hpp"
#include "app/window/scene_list.hpp"
#include "app/window/screen.hpp"

namespace trocar {

class StartScreen final : public Screen {
 public:
  // `recordings`: the folder that Open recording looks into. `context` must outlive the screen.
  StartScreen(std::vector<ListedScene> scenes, std::filesystem::path recordings, SceneAccess access,
              GlContext& context);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;

  // What was chosen: the scene with the devices chosen for it.
  Scene scene() const;
  const std::string& backend() const { return backend_; }
  // Who shows the task instead of a person; nothing: nobody.
  std::optional<Skill> performer() const;
  const std::string& trainee() const { return trainee_; }
  const std::filesystem::path& recording() const { return recording_; }
  // Does the scene connect to machines that the user has not allowed yet? Then the next frame asks.
  bool must_ask();
  // A sentence to be read: why the last wish could not be fulfilled.
  void say(std::string fault) { fault_ = std::move(fault); }
  // Chooses a file's scene; adds it when it is not in the list.
  void choose(const std::filesystem::path& file);

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
  void who_choice();
  void device_choice(const char* label, std::string& device);
  Ask buttons();
  Ask recordings_panel();
  Ask hosts_panel();
  void list_recordings();

  std::vector<ListedScene> scenes_;
  std::filesystem::path folder_, recording_;
  SceneAccess access_;
  std::vector<std::string> asked_hosts_;  // empty: no question is open
  Backends backends_;
  std::size_t selected_ = 0, who_ = 0;
  int fresh_ = 0;                     // frames for which the panel is new, so that its focus is not a choice
  std::vector<std::string> devices_;  // [instrument], then the scope's
  std::string backend_ = "auto", why_, trainee_, fault_, typed_;
  std::vector<RecordingFile> recordings_;
  bool choosing_recording_ = false, enter_ = false, escape_ = false;
};

}  // namespace trocar
