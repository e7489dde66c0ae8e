// Sets up Dear ImGui, the library of the panels, for the lifetime of the program: one context, fonts that fit the
// window's size, no settings file. Keyboard and gamepad move between buttons.   Driven in tests/app/window_path_test.sh
#pragma once

#include <functional>
#include <glm/glm.hpp>
#include <vector>

#include "app/window/widgets/theme.hpp"
#include "app/window/window.hpp"

namespace trocar {

class Gui {
 public:
  explicit Gui(Window& window);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  // Starts the panels of a frame. Call once a frame, after Window::poll(). Fonts are rebuilt when the window's size or
  // the size of the letters has changed. `letters`: 1: the usual size.
  void begin(float letters = 1.f);
  // Draws the panels shown since begin().
  void end();

  bool wants_letters() const;  // a text field has the keyboard
  // Off while the mouse moves an instrument: the panels then receive neither pointer nor keys.
  void listen(bool on);
  // Returns the items that can be pressed, shown since begin().
  const std::vector<theme::ItemPosition>& locations() const { return shown_.items; }
  // Returns all words shown since begin(), once note_words() was called.
  const std::vector<std::string>& words() const { return shown_.words; }
  void note_words() { shown_.with_words = true; }

 private:
  void hear();

  Window& window_;
  float unit_ = 0.f;  // pixels
  theme::ShownFrame shown_;
};

// Panels on pictures that are drawn off the screen: without a window and without input. Not beside a Gui or another of
// its kind.
class PictureGui {
 public:
  // The context of OpenGL that is current must stay so. `size`: pixels
  explicit PictureGui(const glm::ivec2& size);
  ~PictureGui();
  PictureGui(const PictureGui&) = delete;
  PictureGui& operator=(const PictureGui&) = delete;

  // Draws the panels that `panels` shows into the framebuffer bound for drawing.
  void draw(const std::function<void()>& panels);

 private:
  glm::ivec2 size_;
  theme::ShownFrame shown_;
  bool first_ = true;
};

}  // namespace trocar
