// The panels' library (Dear ImGui) for the life of the program: one context, letters that fit the window's size, no
// settings file. Keyboard and gamepad move between buttons.
#pragma once

#include "app/window/theme.hpp"
#include "app/window/window.hpp"

namespace trocar {

class Gui {
 public:
  explicit Gui(Window& window);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  // Once a frame, after Window::poll(). Letters are made anew where the window has another size.
  void begin();
  // Draws what was shown since begin().
  void end();

  bool wants_pointer() const;  // it is over a panel
  bool wants_letters() const;  // a field is being typed into
  // Off while an instrument is in the hand: the panels then see neither pointer nor keys.
  void listen(bool on);
  // What can be pressed, as shown since begin().
  const std::vector<theme::ButtonPlace>& places() const { return places_; }

 private:
  void fit_letters();

  Window& window_;
  float unit_ = 0.f;  // pixels
  std::vector<theme::ButtonPlace> places_;
};

}  // namespace trocar
