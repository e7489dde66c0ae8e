// What stands beside the scope's picture while somebody operates: instruments and what they feel, the session's state.
// In the dark corners left and right of the round field, never on it. Units: newtons, kilopascals, milliseconds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/session/session.hpp"

namespace trocar {

struct HudState {
  std::size_t in_hand = 0;  // instrument; the number of instruments: the scope; more: nothing
  bool recording = false;
  double frame_ms = 0.0;  // smoothed, of the whole frame
  double lost = 0.0;      // s  of the simulation that the machine was too slow for
};

class Hud {
 public:
  // Two panels: instruments bottom left, session bottom right.
  void draw(const Session& session, const HudState& state);

 private:
  void note_tears(const Session& session);

  std::vector<int> tear_shown_;  // [instrument] frames that the panel still speaks of its tear
};

// In words; empty when all is well.
std::string trouble_of(const Instrument& instrument);

}  // namespace trocar
