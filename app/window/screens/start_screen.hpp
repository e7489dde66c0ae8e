// Shows the start screen, on which the user names a person and chooses a scene, or a step of the curriculum, level,
// collision backend and devices, or opens a recording.
// Driven in tests/app/window_path_test.sh and tests/app/window_lab_test.sh
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/lab/lab_desk.hpp"
#include "app/window/input/device_watch.hpp"
#include "app/window/practice/disk_watch.hpp"
#include "app/window/screen.hpp"
#include "app/window/screens/recording_chooser.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/screens/scene_speed.hpp"
#include "app/window/settings.hpp"
#include "app/window/widgets/pictures.hpp"
#include "sim/task/performer.hpp"

namespace trocar {

// Follows keyboard and gamepad through a list: a card is selected when they move the focus to it, not when the focus
// returns because the list appears again.
class CardFocus {
 public:
  void begin();  // before the cards of a frame
  bool fresh() const { return fresh_ > 0; }
  // Call after the card's item. Returns true when the focus has moved to it from another card.
  bool moved_to(std::size_t card);

 private:
  std::optional<std::size_t> last_;
  int fresh_ = 0;   // frames after the list appears
  int frame_ = -1;  // of the last begin()
};

// The list of scenes: groups of cards in two columns, each with a thumbnail and a title.
class SceneShelf {
 public:
  // Draws the list into the current panel; returns the scene that the user selects in this frame.
  std::optional<std::size_t> draw(std::span<const ListedScene> scenes, std::size_t selected);
  // Scrolls to the selected scene in the next frames.
  void reveal() { reveal_ = true; }

 private:
  bool card(const ListedScene& listed, std::size_t number, bool selected);

  Thumbnails thumbnails_;
  CardFocus focus_;
  bool reveal_ = true;
};

// Notes the position of the last item (theme::note_item) when its middle is visible: what is scrolled out of the panel
// cannot be pressed.
void note_visible_item(std::string_view label);

// Shows a person's progress in the curriculum: a row for each step with its state, passes and best score.
class CoursePanel {
 public:
  // Draws the steps into the current panel; returns the step that the user selects in this frame. `selected`: the step
  // to which the chosen scene and level belong.
  std::optional<std::size_t> draw(const LabDesk& desk, const std::optional<std::size_t>& selected);
  // Scrolls to the selected step in the next frame.
  void reveal() { reveal_ = true; }

 private:
  bool row(const CourseView& view, std::size_t step, bool selected);

  std::optional<CourseView> without_attempts_;  // while no person is named
  CardFocus focus_;
  bool reveal_ = false;
};

// "3 of 27 steps passed. Next: Follow the curve." Of a person; also that the database does not answer.
std::string progress_line(const LabDesk& desk);

// Draws what the curriculum asks at a step, and where the person stands; nothing before the database has answered.
void draw_step(const LabDesk& desk, std::size_t step);

// The field for the person who practises: an id is typed, or chosen among the people whom the database knows.
class PersonLogin {
 public:
  // Logs `person` in at the desk.
  PersonLogin(LabDesk& desk, std::string person);

  // Draws label, field, list and, below, where the person stands. Returns true when a person has just logged in.
  bool draw();
  // Logs in who is typed: the first time it adds the person to the database.
  void log_in();

  const std::string& person() const { return person_; }  // id; empty: no person is named
  bool valid() const;                                    // the id can be recorded, or is empty

 private:
  bool known_people();

  LabDesk& desk_;
  std::string person_;
};

class StartScreen final : public Screen {
 public:
  // Shows the scenes. `recordings`: the folder that Open recording lists. `context`, `desk` and
  // `settings` must outlive the screen.
  StartScreen(std::vector<ListedScene> scenes, std::filesystem::path recordings, SceneAccess access, GlContext& context,
              LabDesk& desk, const std::string& person, const LastChoice& last, WindowSettings& settings);

  void step(const WindowInput& input, double elapsed, bool listens) override;
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
  // Stops what runs in the background: the watch of devices, the trial of a scene.
  void rest();
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
  void offer_lesson();
  void choices();
  void backend_choice();
  void level_choice();
  void patient_choice();
  void who_choice();
  void device_choice(const char* label, std::size_t k);
  Ask buttons();
  Ask hosts_panel();

  std::vector<ListedScene> scenes_;
  SceneAccess access_;
  WindowSettings& settings_;
  LabDesk& desk_;
  PersonLogin login_;
  SceneShelf shelf_;
  CoursePanel course_;
  RecordingChooser recordings_;
  std::vector<std::string> asked_hosts_;  // hosts of the open question; empty: none
  Backends backends_;
  std::size_t selected_ = 0, who_ = 0;
  int level_ = 1;                         // of the task
  std::optional<std::uint32_t> patient_;  // seed of the anatomy; empty: as in the file
  std::string patient_text_;              // its anatomy
  StartDevices devices_;
  DiskWatch disk_;
  SceneSpeeds speeds_;
  std::string backend_ = "auto", why_, fault_;
  const KeyLayout* keys_ = &us_layout();  // of the latest input
  bool enter_ = false, escape_ = false, settings_open_ = false, lesson_ = false;
  bool course_open_ = false, open_course_ = false;  // the curriculum is shown; it is to be shown
  bool follow_ = false;  // a person has just logged in: the next step is selected when the database answers
};

}  // namespace trocar
