// Opens a window with an OpenGL context and reads its input, through GLFW. Only one window may exist at a time.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <array>
#include <cstddef>
#include <glm/glm.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/window/input/keys.hpp"
#include "app/window/input_queue.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

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
