// Holds the state of a replay: playing or paused, speed, frame. Does not read input or draw.   Units: seconds.
// Tested in tests/app/window_replay_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace trocar {

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

enum class MarkKind { Touch, ForcePeak, Note, Error };

struct TimeMark {
  std::size_t frame = 0;
  MarkKind kind = MarkKind::Touch;
};

struct MarkParams {
  float touch = 0.02f;  // N  a touch begins where the force exceeds this
  float peak = 1.0f;    // N  a peak is the highest force of an interval above this
};
// Returns the starts of touches and force peaks of one instrument, sorted by frame. `force`: [frame] N.
std::vector<TimeMark> force_marks(std::span<const float> force, const MarkParams& params = {});

// Returns the maximum of each of `bins` equal parts of the frames.
std::vector<float> profile_of(std::span<const float> values, std::size_t bins);

}  // namespace trocar
