// Sets up Dear ImGui, the library of the panels, for the lifetime of the program: one context, fonts that fit the
// window's size, no settings file. Keyboard and gamepad move between buttons.   Driven in tests/app/window_path_test.sh
#pragma once

#include "app/window/widgets/theme.hpp"
#include "app/window/window.hpp"

namespace trocar {

class Gui {
 public:
  explicit Gui(Window& window);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  // Starts the panels of a frame. Call once a frame, after Window::poll(). Fonts are rebuilt when the window's size has
  // changed.
  void begin();
  // Draws the panels shown since begin().
  void end();

  bool wants_letters() const;  // a text field has the keyboard
  // Off while the mouse moves an instrument: the panels then receive neither pointer nor keys.
  void listen(bool on);
  // Returns the items that can be pressed, shown since begin().
  const std::vector<theme::ItemPosition>& locations() const { return locations_; }

 private:
  void fit_letters();
  void hear();

  Window& window_;
  float unit_ = 0.f;  // pixels
  std::vector<theme::ItemPosition> locations_;
};

}  // namespace trocar
