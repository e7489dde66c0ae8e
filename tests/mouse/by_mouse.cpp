// Performs the task of a scene with mouse and keyboard alone, through the practice session of the window: pixels,
// notches, keys and one instrument at a time. No picture is drawn.
//   trocar_by_mouse SCENE SEED FOLDER [ANATOMY]    exit 1: not done
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "sim/scene/anatomy.hpp"
#include "tests/mouse/mouse_attempt.hpp"

namespace trocar::test {
namespace {

int perform(int count, char** words) {
  std::optional<std::uint32_t> anatomy;
  if (count > 4) anatomy = static_cast<std::uint32_t>(std::atoi(words[4]));
  const Scene scene = with_anatomy(load_scene(words[1]), anatomy);
  MouseAttempt attempt(scene, static_cast<std::uint32_t>(std::atoi(words[2])), words[3]);
  std::size_t told = 0;
  bool running = true;
  while (running) {
    running = attempt.step();
    const TaskResult result = attempt.practice().task()->result();
    for (; told < result.events.size(); ++told)
      fmt::print("{:7.2f} s {} {}\n", result.events[told].time, result.events[told].error ? "error" : "     ",
                 result.events[told].text);
    std::fflush(stdout);
  }
  const TaskResult result = attempt.practice().task()->result();
  const MouseCounts& counts = attempt.counts();
  fmt::print("{} in {:.1f} s, {:.0f} points; {} pictures, {:.0f} pixels, {} notches, {} presses, {} Tab; {}\n",
             result.finished ? "done" : "not done", attempt.practice().time(), result.score, counts.pictures,
             counts.pixels, counts.notches, counts.presses, counts.tabs, attempt.practice().recording().string());
  return result.finished ? 0 : 1;
}

}  // namespace
}  // namespace trocar::test

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: trocar_by_mouse SCENE SEED FOLDER [ANATOMY]\n");
    return 2;
  }
  try {
    return trocar::test::perform(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "trocar_by_mouse: {}\n", error.what());
    return 2;
  }
}
