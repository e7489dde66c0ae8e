// Determines the sequence of screens, as a state machine. Needs no window.
// Tested in tests/app/window_state_test.cpp
#pragma once

#include <string>

namespace trocar {

enum class ScreenName { Start, Practice, Results, Replay, Editor, Library, Devices, Quit };

// What a screen requests at the end of a frame.
enum class Ask {
  Nothing,
  Practise,
  OpenRecording,
  OpenLibrary,
  OpenDevices,
  Edit,
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

}  // namespace trocar
