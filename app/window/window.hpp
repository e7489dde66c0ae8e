// Opens a window with an OpenGL context and reads its input, through GLFW. Only one window may exist at a time.
// Driven in tests/app/window_path_test.sh; the queue, which needs no window, is tested in
// tests/app/window_input_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <glm/glm.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/window/input/keys.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

struct InputEvent {
  enum class Kind { Motion, Wheel, Button, Key, Text };

  Kind kind = Kind::Motion;
  int code = 0;             // of the button, or GLFW's of the key
  bool down = false;        // the button or key went down; else up
  Key key = Key::Other;     // what the key means
  int position = 0;         // GLFW's code of the key with this label
  glm::dvec2 pointer{0.0};  // pixels, when it happened
  double wheel = 0.0;       // notches
  char32_t letter = 0;
};

// Keeps what happened to keyboard and mouse in its order and hands it out picture by picture, so that nothing is lost
// between two pictures: a key or button changes at most once a picture, a click counts where the button went down, and
// text and the keys that edit it keep their order. What does not fit into a picture follows in the next ones.
class InputQueue {
 public:
  void add(const InputEvent& event);
  // Returns the events of the next picture, valid until the next call.
  std::span<const InputEvent> next_picture();
  // Returns the events of the last next_picture().
  std::span<const InputEvent> picture() const { return picture_; }
  bool empty() const { return waiting_.empty(); }
  // Forgets motions that wait: the pointer's coordinates have changed.
  void forget_motion();

 private:
  bool fits(const InputEvent& event) const;

  std::deque<InputEvent> waiting_;
  std::vector<InputEvent> picture_;
};

// Input of a picture. A press that is shorter than a picture lasts for one.
struct WindowInput {
  glm::dvec2 pointer{0.0};                         // pixels, right and down from the top left
  glm::dvec2 pointer_motion{0.0};                  // pixels, right and up
  double wheel = 0.0;                              // notches, away from the user is positive
  bool left_button = false, right_button = false;  // down
  bool left_pressed = false;                       // went down in this picture
  bool focus_lost = false;                         // the window has lost the keyboard
  std::vector<Key> pressed;
  std::array<bool, kKeys> held{};     // [key] down
  const KeyLayout* layout = nullptr;  // of the user's keyboard; null: a US keyboard

  const KeyLayout& keys() const { return layout ? *layout : us_layout(); }
  bool down(Key key) const { return held[static_cast<std::size_t>(key)]; }
  bool went_down(Key key) const { return std::ranges::find(pressed, key) != pressed.end(); }
};

class Window {
 public:
  // Returns nullptr, with the reason in `why`, when there is no display or no OpenGL 3.3.
  static std::unique_ptr<Window> open(const std::string& title, int width, int height, std::string& why);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GlContext& context();
  // Returns the input of the next picture.
  const WindowInput& poll();
  const WindowInput& input() const;            // of the last poll()
  std::span<const InputEvent> events() const;  // of the last poll(), in their order
  bool closing() const;
  void stay_open();         // closing() is false until the user closes the window again
  glm::ivec2 size() const;  // pixels
  void show();              // swaps the buffers
  // Hides the pointer and removes its limits, while the mouse moves an instrument. Discards the current motion.
  void capture_pointer(bool captured);
  // Fills the monitor that shows most of the window, or returns to the size before.
  void fill_screen(bool filled);
  void* handle() const;  // GLFWwindow*, for the panels

 private:
  struct Content;
  explicit Window(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
