// Text over the scope's view: frame time, touched faces, backend, agreement; what each instrument feels, holds and
// burns; what each organ suffered; help on F1. Units: newtons, kilopascals, milliseconds.
#pragma once

#include <memory>
#include <string>

#include "app/session/session.hpp"
#include "app/window/window.hpp"

namespace trocar {

struct OverlayState {
  bool help = false;
  bool details = true;  // times per stage
  bool recording = false;
  std::size_t selected = 0;  // instrument that the mouse moves
  double frame_ms = 0.0;     // smoothed time of the whole frame, drawing included
  std::string note;          // one line for a moment: "picture saved to ..."
};

class Overlay {
 public:
  explicit Overlay(Window& window);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  void draw(const Session& session, const OverlayState& state);

 private:
  void note_tears(const Session& session);

  std::vector<float> history_;  // ms, ring of the last frames
  std::size_t next_ = 0;
  std::vector<int> tear_shown_;  // [instrument] frames that the overlay still speaks of its tear
};

}  // namespace trocar
