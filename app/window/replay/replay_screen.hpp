// Shows the replay screen, on which the user plays, steps or scrubs a recording, sees the forces and the task's marks
// of each frame, and goes from error to error. Driven in tests/app/window_path_test.sh
#pragma once

#include <memory>
#include <optional>

#include "app/window/picture_timer.hpp"
#include "app/window/playback.hpp"
#include "app/window/replay/replay_scene.hpp"
#include "app/window/screen.hpp"
#include "app/window/settings.hpp"
#include "app/window/task_scan.hpp"

namespace trocar {

class ReplayScreen final : public Screen {
 public:
  // `settings` and `context` must outlive the screen. `event`: s, on the clock of the score: the replay begins shortly
  // before; empty: at the start. Throws InputError when the file is not a recording.
  ReplayScreen(const std::filesystem::path& recording, const WindowSettings& settings, GlContext& context,
               std::optional<double> event = {});

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;
  SoundCues sound() const override;

 private:
  struct TimelineMark {
    TimeMark mark;
    double share = 0.0;  // of the duration, 0..1
    std::string words;
  };

  void handle_key(Key key, bool shift);
  void show_error(std::optional<double> time);
  void find_marks();
  void note_events();
  double share_of(std::size_t frame) const;
  Ask controls();
  void header();
  void explanation() const;
  double now() const { return scene_.recording().score_times()[playback_.frame()]; }  // s
  void timeline();
  void draw_profiles(const glm::vec2& from, const glm::vec2& size) const;
  void draw_marks(const glm::vec2& from, const glm::vec2& size) const;
  void numbers() const;
  void tool_numbers(std::size_t tool) const;

  std::filesystem::path file_;
  const WindowSettings& settings_;
  ReplayScene scene_;
  Playback playback_;
  View view_;
  QualityKeeper keeper_;
  PictureTimer timer_;
  TaskScan scan_;
  bool scanned_ = false, back_ = false;
  std::vector<TimelineMark> marks_;
  std::vector<TaskEvent> events_;  // once the task is scored
  DrawnMarks drawn_;
  float events_height_ = 0.f;                 // pixels, of the list at its last picture
  std::vector<std::vector<float>> profiles_;  // [tool][bin] N
  float highest_ = 1.f;                       // N, maximum of all instruments, at least 1
};

}  // namespace trocar
