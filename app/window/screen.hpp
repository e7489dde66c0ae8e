// The screens of the window: their sequence as a state machine, which needs no window, and the interface of each.
// Tested in tests/app/window_test.cpp
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <optional>
#include <string>

#include "app/sound/sound.hpp"
#include "app/window/window.hpp"

namespace trocar {

enum class ScreenName { Start, Loading, Practice, Results, Replay, Editor, Library, Day, Devices, Quit };

// What a screen requests at the end of a frame.
enum class Ask {
  Nothing,
  Practise,
  Loaded,  // the session is ready
  OpenRecording,
  OpenLibrary,
  OpenDay,
  OpenDevices,
  Edit,
  Help,
  Lesson,
  Finish,
  Again,
  NextStep,
  ShowMe,
  Back,
  Quit
};

struct ScreenState {
  ScreenName now = ScreenName::Start;
  ScreenName before = ScreenName::Start;  // the screen that Back returns to from a replay
};

// Returns the state after a request. A request that does not apply to this screen changes nothing.
ScreenState next(const ScreenState& state, Ask ask);
// Returns "start", "practice", ...
std::string name_of(ScreenName screen);

// Phases of a practice session. Ready: instructions are shown, nothing is recorded; Running: devices move the
// instruments and everything is recorded; Paused: time stops.
enum class Phase { Ready, Running, Paused, Ended };
enum class PhaseEvent { Start, Pause, Resume, Stop };

Phase next(Phase phase, PhaseEvent event);
std::string name_of(Phase phase);

// State of a screen, for tests and remote control.
struct ScreenStatus {
  std::string phase;            // of the screen, in a word
  std::string in_hand;          // selected instrument: "grasper", "scope"; empty: none
  std::filesystem::path file;   // recording, report or scene that it wrote or selected last
  std::uint64_t frames = 0;     // simulated or shown
  std::uint32_t touched = 0;    // faces, in the current frame
  std::string note;             // message that it shows
  std::string film;             // what results and replay show of the film that is made or was made last
  std::string disk;             // room for recordings, in words
  std::optional<double> speed;  // 1  of the selected scene on this machine, of real time
  std::string step;             // of the curriculum: where the person stands, what an attempt means for it
  // In a practice session:
  std::optional<glm::dvec3> tip;   // m   of the selected instrument
  std::optional<glm::dvec3> goal;  // m   where the task continues: the next target, or the next point of the line
  double progress = 0.0;           // 1   of the task
};

// The program calls step, panels, status, sound and picture once a frame, in this order: what is drawn may run beside
// the rest of the frame, until the next step.
class Screen {
 public:
  virtual ~Screen() = default;

  // Reacts to input. `listens`: keys are for the screen, because no text field has the keyboard and no help is shown.
  virtual void step(const WindowInput& input, double elapsed, bool listens) = 0;
  virtual Ask panels() = 0;
  virtual void picture(const glm::ivec2& size);  // below the panels, into the window; by default dark
  // Returns whether the mouse moves an instrument. The pointer is then hidden, and panels receive no input.
  virtual bool in_hand() const { return false; }
  virtual ScreenStatus status() const = 0;
  // Returns what is to be heard.
  virtual SoundCues sound() const { return {}; }
};

}  // namespace trocar
