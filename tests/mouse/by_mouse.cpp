// Performs the task of a scene with mouse and keyboard alone: pixels, notches, keys and one instrument at a time. With
// --window the practice screen is drawn into a window, and its input comes as events of the X server; else no picture
// is drawn and time is simulated.
//   trocar_by_mouse SCENE SEED FOLDER [--window]    exit 1: not done
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "app/window/widgets/gui.hpp"
#include "app/window/window.hpp"
#include "geometry/error.hpp"
#include "tests/mouse/mouse_hand.hpp"

namespace trocar::test {

// Sends input to a window as events of the X server, through xdotool, and waits until the window has received them.
// Driven by trocar_by_mouse --window

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
    now.left_pressed = now.left_pressed || all.left_pressed, now.focus_lost = now.focus_lost || all.focus_lost;
    all = now;
    if (has_arrived(wanted, all)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200));
  return all;
}

namespace {

using Clock = std::chrono::steady_clock;

// Prints the events of the task since the last call.
void tell(MouseAttempt& attempt, std::size_t& told) {
  const TaskResult result = attempt.practice().task()->result();
  for (; told < result.events.size(); ++told)
    fmt::print("{:7.2f} s {} {}\n", result.events[told].time, result.events[told].error ? "error" : "     ",
               result.events[told].text);
  std::fflush(stdout);
}

void without_window(MouseAttempt& attempt, double tick) {
  attempt.start();
  attempt.step({}, tick);
  std::size_t told = 0;
  while (attempt.step(attempt.next_input(), tick)) tell(attempt, told);
  tell(attempt, told);
}

void in_window(MouseAttempt& attempt, Window& window) {
  constexpr double kShortest = 1.0 / 60.0;  // s
  Gui gui(window);
  XEvents events;
  window.capture_pointer(true);
  gui.listen(false);
  attempt.start();
  std::size_t told = 0;
  auto last = Clock::now();
  bool running = true;
  for (bool first = true; running && !window.closing(); first = false) {
    const WindowInput arrived = events.send(first ? WindowInput() : attempt.next_input(), window);
    double elapsed = 0.0;
    while (elapsed < kShortest) elapsed = std::chrono::duration<double>(Clock::now() - last).count();
    last = Clock::now();
    running = attempt.step(arrived, elapsed);
    gui.begin();
    attempt.screen().picture(window.size());
    attempt.screen().panels();
    gui.end();
    window.show();
    tell(attempt, told);
  }
}

int perform(const char* file, const char* seed, const char* folder, bool shown) {
  const Scene scene = load_scene(file);
  std::unique_ptr<Window> window;
  std::string why;
  if (shown) window = Window::open("Trocar", 800, 500, why);
  if (shown && !window) throw RunError(why);
  MouseAttempt attempt(scene, static_cast<std::uint32_t>(std::atoi(seed)), folder,
                       window ? &window->context() : nullptr);
  if (window)
    in_window(attempt, *window);
  else
    without_window(attempt, 1.0 / scene.frame_rate);
  const Practice& practice = attempt.practice();
  const TaskResult result = practice.task()->result();
  const MouseCounts& counts = attempt.counts();
  fmt::print(
      "{} in {:.1f} s ({:.1f} s lost), {:.0f} points; {} pictures, {:.0f} pixels, {} notches, {} presses, {} Tab\n",
      result.finished ? "done" : "not done", practice.time(), practice.lost(), result.score, counts.pictures,
      counts.pixels, counts.notches, counts.presses, counts.tabs);
  fmt::print("{} disagreements; {}\n", practice.session().disagreements(), practice.recording().string());
  return result.finished ? 0 : 1;
}

}  // namespace
}  // namespace trocar::test

int main(int count, char** words) {
  const bool shown = count == 5 && std::strcmp(words[4], "--window") == 0;
  if (count != 4 && !shown) {
    fmt::print(stderr, "usage: trocar_by_mouse SCENE SEED FOLDER [--window]\n");
    return 2;
  }
  try {
    return trocar::test::perform(words[1], words[2], words[3], shown);
  } catch (const std::exception& error) {
    fmt::print(stderr, "trocar_by_mouse: {}\n", error.what());
    return 2;
  }
}
