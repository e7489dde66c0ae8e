// Draws the overlay during practice. A trainee sees the instruments with what they do; the technical overlay adds
// forces, pressures and the session's state. Its panels lie in the dark corners beside the circular view.
// Units: newtons, kilopascals, milliseconds.
// trouble_of() is tested in tests/app/window_state_test.cpp
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/session/session.hpp"

namespace trocar {

struct HudState {
  std::size_t in_hand = 0;  // selected instrument; the number of instruments: the scope; greater: nothing
  bool recording = false;
  double frame_ms = 0.0;  // smoothed, of the whole frame
  double lost = 0.0;      // s  simulation time lost because the machine was too slow
  bool technical = false;
};

class Hud {
 public:
  // Draws the instruments bottom left, the session bottom right.
  void draw(const Session& session, const HudState& state);

 private:
  void note_tears(const Session& session);

  std::vector<int> tear_shown_;  // [instrument] remaining frames in which the panel reports its tear
};

// Returns the device's fault in words; empty: none.
std::string trouble_of(const Instrument& instrument);

}  // namespace trocar
