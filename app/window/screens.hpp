// Which screen follows which: the window as a state machine, without a window.
// Tested in tests/app/window_state_test.cpp
#pragma once

#include <string>

namespace trocar {

enum class ScreenName { Start, Practice, Results, Replay, Editor, Quit };

// What a screen asks for when its frame is over.
enum class Ask { Nothing, Practise, OpenRecording, Edit, Finish, Again, Back, Quit };

struct ScreenState {
  ScreenName now = ScreenName::Start;
  ScreenName before = ScreenName::Start;  // where Back leads from a replay
};

// An ask that makes no sense on this screen changes nothing.
ScreenState next(const ScreenState& state, Ask ask);
// "start", "practice", ...
std::string name_of(ScreenName screen);

// A practice session within its screen. Ready: instructions are shown, nothing counts; Running: the instruments are in
// the hand and everything is recorded; Paused: time stands still.
enum class Phase { Ready, Running, Paused, Ended };
enum class PhaseEvent { Start, Pause, Resume, Stop };

Phase next(Phase phase, PhaseEvent event);
std::string name_of(Phase phase);

}  // namespace trocar
