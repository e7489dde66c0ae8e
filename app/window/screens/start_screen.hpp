// Shows the start screen, on which the user names a person and chooses a scene, or a step of the curriculum, level,
// collision backend and devices.   Driven in tests/app/window_path_test.sh and tests/app/window_lab_test.sh
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/lab/lab_desk.hpp"
#include "app/window/course_panel.hpp"
#include "app/window/person_login.hpp"
#include "app/window/practice/disk_watch.hpp"
#include "app/window/recording_chooser.hpp"
#include "app/window/scene_shelf.hpp"
#include "app/window/screen.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/settings_file.hpp"
#include "app/window/start_devices.hpp"
#include "sim/task/performer.hpp"

namespace trocar {

// What is chosen when the program starts.
class StartScreen final : public Screen {
 public:
  // Shows the scenes. `recordings`: the folder that Open recording lists. `context` and `desk` must outlive the screen.
  StartScreen(std::vector<ListedScene> scenes, std::filesystem::path recordings, SceneAccess access, GlContext& context,
              LabDesk& desk, const std::string& person, const LastChoice& last);

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
  const std::string& person() const { return login_.person(); }
  // Logs in the person who is named: the first time, the database gets a new person.
  void log_in() { login_.log_in(); }
  // Returns the file of the selected scene, empty without scenes, and the level.
  std::filesystem::path scene_file() const { return scenes_.empty() ? "" : scenes_[selected_].file; }
  int level() const { return level_; }
  const std::filesystem::path& recording() const { return recordings_.recording(); }
  // Returns true if the scene connects to machines that the user has not allowed yet; the next frame then asks.
  bool must_ask();
  // Shows an error message.
  void say(std::string fault) { fault_ = std::move(fault); }
  // Selects a file's scene; adds it when it is not in the list.
  void choose(const std::filesystem::path& file);
  // Returns what is chosen, for the next start.
  LastChoice choice() const;
  // Selects the scene and the level of a step of the curriculum.
  void choose_step(std::size_t step);
  // The devices of the selected scene, and the machines that the user allows.
  StartDevices& devices() { return devices_; }
  SceneAccess& access() { return access_; }
  const Scene& selected() const { return scenes_[selected_].scene; }
  const std::string& selected_fault() const { return scenes_[selected_].fault; }  // empty: none
  const std::vector<ListedScene>& scenes() const { return scenes_; }

 private:
  void select(std::size_t scene);
  std::optional<std::size_t> listed(const std::filesystem::path& file) const;
  std::optional<std::size_t> chosen_step() const;
  Ask main_panel();
  void title_bar();
  void left_tabs();
  void right_side(float height);
  void details();
  void choices();
  void backend_choice();
  void level_choice();
  void who_choice();
  void device_choice(const char* label, std::size_t k);
  Ask buttons();
  Ask hosts_panel();

  std::vector<ListedScene> scenes_;
  SceneAccess access_;
  LabDesk& desk_;
  PersonLogin login_;
  SceneShelf shelf_;
  CoursePanel course_;
  RecordingChooser recordings_;
  std::vector<std::string> asked_hosts_;  // hosts of the open question; empty: none
  Backends backends_;
  std::size_t selected_ = 0, who_ = 0;
  int level_ = 1;  // of the task
  StartDevices devices_;
  DiskWatch disk_;
  std::string backend_ = "auto", why_, fault_;
  bool enter_ = false, escape_ = false;
  bool course_open_ = false, open_course_ = false;  // the curriculum is shown; it is to be shown
  bool follow_ = false;  // a person has just logged in: the next step is selected when the database answers
};

}  // namespace trocar
