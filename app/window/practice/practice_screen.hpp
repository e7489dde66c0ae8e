// Shows the practice screen: instructions first, then the scope's picture with the overlay, and a menu while paused;
// plays its sound. Time stops while help or settings cover the picture, and when another window takes the keyboard.
// Tested in tests/app/practice_test.cpp; driven in tests/app/window_path_test.sh
#pragma once

#include <memory>
#include <span>

#include "app/sound/captions.hpp"
#include "app/sound/sound.hpp"
#include "app/view/drawn_ticks.hpp"
#include "app/view/view.hpp"
#include "app/window/picture_timer.hpp"
#include "app/window/practice/disk_watch.hpp"
#include "app/window/practice/ghost.hpp"
#include "app/window/practice/hud.hpp"
#include "app/window/practice/lesson.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/screen.hpp"
#include "app/window/settings.hpp"
#include "app/window/widgets/pictures.hpp"

namespace trocar {

// Returns what is to be heard of a session's last frame; none while time stands still. `pulse`: whether the pulse is
// wanted.
SoundCues sound_of(const Practice& practice, bool pulse);

// Draws the picture of a practice session: organs, instruments, the expert's ghost and the task's marks as the scope
// sees them.
class PracticeView {
 public:
  PracticeView(GlContext& context, const Practice& practice);

  // As Practice::Keep.
  void keep(const Session& session, std::uint64_t tick, double time) { ticks_.keep(session, tick, time); }
  // Takes what the next picture shows; the session may then run on. `ghosts`: drawn as transparent instruments.
  void take(const Practice& practice, const WindowSettings& settings, std::span<const DrawnTool> ghosts);
  // Draws it. Returns the time that it took, ms.
  double draw(const glm::ivec2& size);
  Quality quality() const { return keeper_.quality(); }

 private:
  DrawnTicks ticks_;
  DrawnMoment moment_;
  std::vector<DrawnTool> tools_;  // with the ghosts
  DrawnMarks marks_;
  std::vector<std::vector<glm::vec3>> points_;     // [path of marks_], its points
  std::vector<std::vector<glm::dvec2>> outlines_;  // [zone of marks_], its outline
  ViewSettings settings_;
  double lost_ = 0.0;  // s  when the picture was taken
  bool late_ = false;  // more than for the picture before
  View view_;
  QualityKeeper keeper_;
  PictureTimer timer_;
};

class PracticeScreen final : public Screen {
 public:
  // `settings` and `ghost` must outlive the screen. `folder`: for pictures. `context`: null draws nothing, for tests.
  PracticeScreen(std::unique_ptr<Practice> practice, WindowSettings& settings, GhostShow& ghost,
                 std::filesystem::path folder, GlContext* context);
  ~PracticeScreen() override { practice_->settle(); }  // the view outlives the ticks that it keeps

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  bool in_hand() const override;
  ScreenStatus status() const override;
  SoundCues sound() const override { return sound_of(*practice_, settings_.pulse); }

  Practice& practice() { return *practice_; }
  // Begins the attempt, unless the disk has too little room to record it.
  void start();
  // Asks the user whether an attempt that runs shall end with this. Returns false when there is nothing to ask: no
  // attempt is recorded, or the question is being shown.
  bool ask_to_leave(Ask ask);

 private:
  void handle_key(Key key, HandSide side);
  void follow_task(const WindowInput& input);
  void ready_panel();
  void key_lines() const;
  void pause_panel();
  void lesson_panel() const;
  void leave_panel();
  void stay();
  bool no_room() const;
  std::string disk_note() const;
  std::string lasting_note() const;
  void note_panel(const std::string& note) const;
  void caption_panel() const;
  void say(std::string note);

  std::unique_ptr<Practice> practice_;
  std::optional<PracticeView> view_;
  WindowSettings& settings_;
  GhostShow& ghost_;
  std::filesystem::path folder_;
  DiskWatch disk_;
  std::optional<Lesson> lesson_;
  Hud hud_;
  Captions captions_;
  StepPictures pictures_;
  std::vector<ContactRow> contacts_;
  std::string note_;
  std::optional<std::size_t> wanted_;     // instrument of the task's step that was put into the hand last
  const KeyLayout* keys_ = &us_layout();  // of the latest input
  int note_frames_ = 0;
  Ask ask_ = Ask::Nothing;
  Ask leaving_ = Ask::Nothing;  // what the user must confirm
  bool settings_open_ = false, picture_wanted_ = false;
};

}  // namespace trocar
