// The timeline of a recording: the force on each instrument, touches, force peaks, and the events of its task. The
// replay screen and films show it.   Units: newtons.   Tested in tests/app/practice_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "sim/hdf5/recording.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

enum class MarkKind { Touch, ForcePeak, Note, Error };

glm::vec3 colour_of(MarkKind kind);
// "touch", "force peak", "reached", "error"
const char* words_of(MarkKind kind);

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

struct TimelineMark {
  TimeMark mark;
  double share = 0.0;  // of the duration, 0..1
  std::string words;
};

class Timeline {
 public:
  // Reads the forces. The recording must outlive the timeline.
  explicit Timeline(const Recording& recording);

  // Adds a mark for each event.
  void add(std::span<const TaskEvent> events);
  // Draws the timeline into the current panel of Dear ImGui, with a line at `share` of the duration. `from`, `size`:
  // pixels
  void draw(const glm::vec2& from, const glm::vec2& size, double share) const;
  // Returns the last mark within `reach` of a share of the duration; nullptr: there is none.
  const TimelineMark* mark_at(double share, double reach) const;

 private:
  double share_of(std::size_t frame) const;
  void draw_profiles(const glm::vec2& from, const glm::vec2& size) const;
  void draw_marks(const glm::vec2& from, const glm::vec2& size) const;

  const Recording* recording_;
  std::vector<TimelineMark> marks_;
  std::vector<std::vector<float>> profiles_;  // [tool][bin] N
  float highest_ = 1.f;                       // N, maximum of all instruments, at least 1
};

}  // namespace trocar
