// An attempt at a task with mouse and keyboard: the practice screen of the window, whose input an operator makes who
// wants to do what the scripted expert would do. Units: seconds.   Tested in tests/mouse/mouse_hand_test.cpp
#pragma once

#include <filesystem>
#include <functional>

#include "app/window/practice/practice_screen.hpp"
#include "tests/mouse/mouse_hand.hpp"

namespace trocar::test {

struct MouseCounts {
  std::size_t pictures = 0, tabs = 0, presses = 0, notches = 0;
  double pixels = 0.0;
};

class MouseAttempt {
 public:
  // Prepares the attempt; its recording goes to `folder`. The scene has a task. `window`: null draws nothing.
  MouseAttempt(const Scene& scene, std::uint32_t seed, const std::filesystem::path& folder,
               GlContext* window = nullptr);

  void start() { screen_.start(); }
  // Returns the input of the next picture.
  WindowInput next_input();
  // One picture with the input that has arrived, `elapsed` s after the last. Returns whether the attempt goes on.
  bool step(const WindowInput& arrived, double elapsed);

  PracticeScreen& screen() { return screen_; }
  Practice& practice() { return screen_.practice(); }
  const MouseCounts& counts() const { return counts_; }

 private:
  void count(const WindowInput& input);

  double tick_;  // s
  WindowSettings settings_;
  GhostShow ghost_;
  PracticeScreen screen_;
  Performer expert_;
  std::vector<std::unique_ptr<Device>> wanted_;  // [instrument]
  MouseHand hand_;
  SessionObserver observer_;
  MouseCounts counts_;
  std::size_t frames_ = 0;
  bool was_down_ = false;
};

}  // namespace trocar::test
