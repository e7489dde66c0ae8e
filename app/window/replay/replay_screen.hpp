// Shows the replay screen, on which the user plays, steps or scrubs a recording, sees the forces and the task's marks
// of each frame, and goes from error to error.   Units: seconds.
// Playback is tested in tests/app/practice_test.cpp; the screen is driven in tests/app/window_path_test.sh
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/window/picture_timer.hpp"
#include "app/window/replay/film_maker.hpp"
#include "app/window/replay/replay_scene.hpp"
#include "app/window/replay/timeline.hpp"
#include "app/window/screen.hpp"
#include "app/window/settings.hpp"

namespace trocar {

// Holds the state of a replay: playing or paused, speed, frame. Does not read input or draw.
class Playback {
 public:
  // Starts at the first frame. `times`: [frame] ascending, not empty, must outlive the playback.
  explicit Playback(std::span<const double> times) : times_(times), time_(times.front()) {}

  void advance(double elapsed);  // stops at the last frame
  void toggle();                 // at the end: plays from the start
  void step(int frames);         // stops playing
  void seek(std::size_t frame);
  // Stops at the last frame that begins at or before `time`, on the clock of the frames.
  void show(double time);
  void faster(int steps);

  bool playing() const { return playing_; }
  std::size_t frame() const { return frame_; }
  double speed() const;
  double time() const { return times_[frame_] - times_.front(); }
  double duration() const { return times_.back() - times_.front(); }
  double share() const;                            // 0..1 of the time
  std::size_t frame_at_share(double share) const;  // the last frame that begins at or before this time

 private:
  std::size_t frame_at(double time) const;

  std::span<const double> times_;
  std::size_t frame_ = 0, speed_ = 3;
  double time_ = 0.0;
  bool playing_ = false;
};

class ReplayScreen final : public Screen {
 public:
  // `settings`, `context` and `films` must outlive the screen. `event`: s, on the clock of the score: the replay begins
  // shortly before; empty: at the start. Throws InputError when the file is not a recording.
  ReplayScreen(const std::filesystem::path& recording, const WindowSettings& settings, GlContext& context,
               FilmMaker& films, std::optional<double> event = {});

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;
  SoundCues sound() const override;

 private:
  void handle_key(Key key, bool shift);
  void show_error(std::optional<double> time);
  Ask controls();
  void header();
  void explanation() const;
  double now() const { return scene_.recording().score_times()[playback_.frame()]; }  // s
  void timeline();
  void numbers() const;
  void tool_numbers(std::size_t tool) const;

  std::filesystem::path file_;
  const WindowSettings& settings_;
  FilmMaker& films_;
  ReplayScene scene_;
  Playback playback_;
  View view_;
  QualityKeeper keeper_;
  PictureTimer timer_;
  TaskScan scan_;
  bool scanned_ = false, back_ = false;
  Timeline timeline_;
  std::vector<TaskEvent> events_;  // once the task is scored
  DrawnMarks drawn_;
  float events_height_ = 0.f;  // pixels, of the list at its last picture
};

}  // namespace trocar
