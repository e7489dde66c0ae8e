// Sends input to a window as events of the X server, through xdotool, and waits until the window has received them.
// Driven by trocar_by_mouse --window
#pragma once

#include <cstdio>

#include "app/window/window.hpp"

namespace trocar::test {

class XEvents {
 public:
  XEvents();  // Throws std::runtime_error when xdotool cannot be started
  ~XEvents();
  XEvents(const XEvents&) = delete;
  XEvents& operator=(const XEvents&) = delete;

  // Returns what the window has received: `wanted`, or less when it does not arrive within a fifth of a second.
  WindowInput send(const WindowInput& wanted, Window& window);

 private:
  std::FILE* pipe_ = nullptr;
  WindowInput sent_;
};

}  // namespace trocar::test
