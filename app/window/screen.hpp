// What every screen of the window can do. The program calls step, picture and panels once a frame, in this order.
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <string>

#include "app/window/screens.hpp"
#include "app/window/window.hpp"

namespace trocar {

// For tests and remote control: what a screen is about at the moment.
struct ScreenStatus {
  std::string phase;           // of the screen, in a word
  std::string in_hand;         // "grasper", "scope"; empty: nothing
  std::filesystem::path file;  // recording, report or scene that it made last
  std::uint64_t frames = 0;    // simulated or shown
  std::uint32_t touched = 0;   // faces, now
  std::string note;            // what it says at the moment
};

class Screen {
 public:
  virtual ~Screen() = default;

  // `listens`: the panels do not want the pointer, or the letters, for themselves.
  virtual void step(const WindowInput& input, double elapsed, bool listens) = 0;
  virtual void picture(const glm::ivec2& size) = 0;  // below the panels, into the window
  virtual Ask panels() = 0;
  // An instrument is in the hand: no pointer is shown, and panels do not listen.
  virtual bool in_hand() const { return false; }
  virtual ScreenStatus status() const = 0;
};

}  // namespace trocar
