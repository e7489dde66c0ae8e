// A window with an OpenGL context and its input, through GLFW. One at a time.
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
  A,
  C,
  D,
  E,
  G,
  H,
  L,
  O,
  P,
  Q,
  S,
  W,
  Z,
  Control,
  Shift,
  Other
};
constexpr std::size_t kKeys = static_cast<std::size_t>(Key::Other) + 1;

// What happened since the last poll().
struct WindowInput {
  glm::dvec2 pointer{0.0};                                                // pixels, right and down from the top left
  glm::dvec2 pointer_motion{0.0};                                         // pixels, right and up
  double wheel = 0.0;                                                     // notches, away from the user is positive
  bool left_button = false, right_button = false, middle_button = false;  // held now
  bool left_pressed = false;                                              // went down, if only for a moment
  bool focus_lost = false;                                                // another window has the keyboard now
  std::vector<Key> pressed;
  std::array<bool, kKeys> held{};  // [key] down now

  bool down(Key key) const { return held[static_cast<std::size_t>(key)]; }
};

class Window {
 public:
  // nullptr, with the reason in `why`, when there is no display or no OpenGL on it.
  static std::unique_ptr<Window> open(const std::string& title, int width, int height, std::string& why);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GlContext& context();
  const WindowInput& poll();
  bool closing() const;
  glm::ivec2 size() const;  // pixels
  void show();              // presents what was drawn
  void set_title(const std::string& title);
  // Hides the pointer and lets it move without end: an instrument is in the hand. Motion of the moment is forgotten.
  void capture_pointer(bool captured);
  void* handle() const;  // GLFWwindow*, for the panels

 private:
  struct Content;
  explicit Window(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
