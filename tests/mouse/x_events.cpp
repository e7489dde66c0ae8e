#include "tests/mouse/x_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace trocar::test {
namespace {

struct NamedKey {
  Key key;
  const char* name;
};
constexpr NamedKey kHeld[] = {{Key::Shift, "shift"}, {Key::Q, "q"}, {Key::W, "w"}, {Key::E, "e"}, {Key::R, "r"}};

bool has_arrived(const WindowInput& wanted, const WindowInput& got) {
  const bool keys =
      std::ranges::all_of(kHeld, [&](const NamedKey& k) { return got.down(k.key) == wanted.down(k.key); });
  return keys && got.left_button == wanted.left_button && std::abs(got.wheel - wanted.wheel) < 0.5 &&
         glm::distance(got.pointer_motion, wanted.pointer_motion) < 0.5 &&
         std::ranges::count(got.pressed, Key::Tab) >= std::ranges::count(wanted.pressed, Key::Tab);
}

}  // namespace

XEvents::XEvents() : pipe_(popen("xdotool -", "w")) {
  if (!pipe_) throw std::runtime_error("xdotool cannot be started");
}

XEvents::~XEvents() {
  for (const NamedKey& k : kHeld)
    if (sent_.down(k.key)) fmt::print(pipe_, "keyup {}\n", k.name);
  pclose(pipe_);
}

WindowInput XEvents::send(const WindowInput& wanted, Window& window) {
  for (const NamedKey& k : kHeld)
    if (wanted.down(k.key) != sent_.down(k.key))
      fmt::print(pipe_, "{} {}\n", wanted.down(k.key) ? "keydown" : "keyup", k.name);
  if (wanted.left_button != sent_.left_button)
    fmt::print(pipe_, "{} 1\n", wanted.left_button ? "mousedown" : "mouseup");
  const auto x = std::lround(wanted.pointer_motion.x), y = std::lround(wanted.pointer_motion.y);
  if (x != 0 || y != 0) fmt::print(pipe_, "mousemove_relative -- {} {}\n", x, -y);
  for (long k = std::lround(std::abs(wanted.wheel)); k > 0; --k)
    fmt::print(pipe_, "click {}\n", wanted.wheel > 0.0 ? 4 : 5);
  if (std::ranges::count(wanted.pressed, Key::Tab) > 0) fmt::print(pipe_, "key Tab\n");
  std::fflush(pipe_);
  sent_ = wanted;
  WindowInput all;
  const auto start = std::chrono::steady_clock::now();
  do {
    WindowInput now = window.poll();
    now.pointer_motion += all.pointer_motion, now.wheel += all.wheel;
    now.pressed.insert(now.pressed.begin(), all.pressed.begin(), all.pressed.end());
    now.left_pressed = now.left_pressed || all.left_pressed;
    now.focus_lost = now.focus_lost || all.focus_lost;
    all = now;
    if (has_arrived(wanted, all)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200));
  return all;
}

}  // namespace trocar::test
