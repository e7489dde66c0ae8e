// Opens a window with an OpenGL context and reads its input, through GLFW. Only one window may exist at a time.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <array>
#include <cstddef>
#include <glm/glm.hpp>
#include <memory>
#include <string>
#include <vector>

#include "gpu_collision/gl_context.hpp"

namespace trocar {

enum class Key {
  Escape,
  Enter,
  Space,
  Tab,
  Left,
  Right,
  Up,
  Down,
  Home,
  End,
  Delete,
  Comma,
  Period,
  F1,
  F2,
  F11,
  A,
  C,
  D,
  E,
  G,
  H,
  L,
  N,
  O,
  P,
  Q,
  R,
  S,
  T,
  W,
  X,
  Y,
  Z,
  Control,
  Shift,
  Other
};
constexpr std::size_t kKeys = static_cast<std::size_t>(Key::Other) + 1;

// Input since the last poll().
struct WindowInput {
  glm::dvec2 pointer{0.0};                         // pixels, right and down from the top left
  glm::dvec2 pointer_motion{0.0};                  // pixels, right and up
  double wheel = 0.0;                              // notches, away from the user is positive
  bool left_button = false, right_button = false;  // down at the poll
  bool left_pressed = false;                       // went down since the last poll
  bool focus_lost = false;                         // the window has lost the keyboard
  std::vector<Key> pressed;
  std::array<bool, kKeys> held{};  // [key] down at the poll

  bool down(Key key) const { return held[static_cast<std::size_t>(key)]; }
};

class Window {
 public:
  // Returns nullptr, with the reason in `why`, when there is no display or no OpenGL 3.3.
  static std::unique_ptr<Window> open(const std::string& title, int width, int height, std::string& why);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GlContext& context();
  const WindowInput& poll();
  bool closing() const;
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
