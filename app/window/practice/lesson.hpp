// The first lesson: eight exercises of half a minute that introduce the hand and the scope, in a scene with a grasper
// and a hook. Each waits until the trainee has done it; none is scored or recorded.
// Units: m, degrees, s.   Tested in tests/app/practice_test.cpp; driven in tests/app/window_lesson_test.sh
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <optional>
#include <string>

#include "sim/session/session.hpp"

namespace trocar {

// What a lesson sees of a session in one picture.
struct LessonView {
  double elapsed = 0.0;     // s  since the last picture
  std::size_t in_hand = 0;  // instrument; the number of instruments: the scope
  std::size_t hook = 0;     // number of the hook in the scene
  glm::dvec3 tip{0.0}, pivot{0.0};
  double roll_deg = 0.0;
  bool touches = false, holds = false;  // the instrument in hand: faces; tissue between its jaws
  bool burns = false;                   // its pedal is down and it touches
  glm::dvec3 eye{0.0}, forward{0.0, 0.0, -1.0};
  bool paused = false;
};

// Returns it of a session; `in_hand`: as of MouseHands. Tip, touch and roll are those of the instrument in hand.
LessonView lesson_view(const Session& session, std::size_t in_hand, bool paused, double elapsed);

class Lesson {
 public:
  enum class Part { Move, Insert, Touch, Roll, Grip, Release, Burn, Scope, Pause, End };
  static constexpr std::size_t kParts = static_cast<std::size_t>(Part::End);

  void see(const LessonView& view);
  // Goes to the next part.
  void skip() { begin(static_cast<Part>(static_cast<std::size_t>(part_) + 1)); }

  Part part() const { return part_; }
  std::size_t number() const { return static_cast<std::size_t>(part_); }  // of parts that are done
  double progress() const { return progress_; }                           // 0 .. 1  of this part
  bool done() const { return part_ == Part::End; }
  // Returns what to do, with the keys of a US keyboard (in_layout).
  const char* title() const;
  const char* text() const;

 private:
  void begin(Part part);
  double measure(const LessonView& view);

  Part part_ = Part::Move;
  double progress_ = 0.0, path_ = 0.0, held_ = 0.0;  // path_: m, degrees or s, of this part
  std::optional<LessonView> last_;
};

}  // namespace trocar
