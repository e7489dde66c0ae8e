// Performs the task of a scene with mouse and keyboard alone: pixels, notches, keys and one instrument at a time. With
// --window the practice screen is drawn into a window, and its input comes as events of the X server; else no picture
// is drawn and time is simulated.
//   trocar_by_mouse SCENE SEED FOLDER [--window]    exit 1: not done
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "app/window/widgets/gui.hpp"
#include "geometry/error.hpp"
#include "tests/mouse/mouse_attempt.hpp"
#include "tests/mouse/x_events.hpp"

namespace trocar::test {
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
