// Shows the practice screen: instructions first, then the scope's picture with the overlay, and a menu while paused.
// Time stops while help or settings cover the picture, and when another window takes the keyboard.
// Tested in tests/app/practice_test.cpp
#pragma once

#include <memory>

#include "app/window/contact_list.hpp"
#include "app/window/ghost_show.hpp"
#include "app/window/practice/disk_watch.hpp"
#include "app/window/practice/hud.hpp"
#include "app/window/practice_sound.hpp"
#include "app/window/practice_view.hpp"
#include "app/window/screen.hpp"
#include "app/window/step_pictures.hpp"

namespace trocar {

class PracticeScreen final : public Screen {
 public:
  // `settings` and `ghost` must outlive the screen. `folder`: for pictures. `context`: null draws nothing, for tests.
  PracticeScreen(std::unique_ptr<Practice> practice, WindowSettings& settings, GhostShow& ghost,
                 std::filesystem::path folder, GlContext* context);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  bool in_hand() const override;
  ScreenStatus status() const override;
  SoundCues sound() const override { return sound_of(*practice_, settings_.pulse); }

  Practice& practice() { return *practice_; }
  // Begins the attempt, unless the disk has too little room to record it.
  void start();

 private:
  void handle_key(Key key);
  void ready_panel();
  void key_lines() const;
  void pause_panel();
  bool no_room() const;
  std::string disk_note() const;
  std::string lasting_note() const;
  void note_panel(const std::string& note) const;
  void say(std::string note);

  std::unique_ptr<Practice> practice_;
  std::optional<PracticeView> view_;
  WindowSettings& settings_;
  GhostShow& ghost_;
  std::filesystem::path folder_;
  DiskWatch disk_;
  Hud hud_;
  StepPictures pictures_;
  std::vector<ContactRow> contacts_;
  std::string note_;
  const KeyLayout* keys_ = &us_layout();  // of the latest input
  int note_frames_ = 0;
  Ask ask_ = Ask::Nothing;
  bool settings_open_ = false, picture_wanted_ = false;
};

}  // namespace trocar
