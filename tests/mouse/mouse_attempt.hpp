// An attempt at a task with mouse and keyboard: a practice session as in the window, whose input an operator makes who
// wants to do what the scripted expert would do. Units: seconds.   Tested in tests/mouse/mouse_hand_test.cpp
#pragma once

#include <filesystem>

#include "app/window/practice.hpp"
#include "tests/mouse/mouse_hand.hpp"

namespace trocar::test {

struct MouseCounts {
  std::size_t pictures = 0, tabs = 0, presses = 0, notches = 0;
  double pixels = 0.0;
};

class MouseAttempt {
 public:
  // Starts the attempt; its recording goes to `folder`. The scene has a task.
  MouseAttempt(const Scene& scene, std::uint32_t seed, const std::filesystem::path& folder);

  // One picture. Returns whether the attempt goes on.
  bool step();

  const Practice& practice() const { return practice_; }
  const MouseCounts& counts() const { return counts_; }

 private:
  void count(const WindowInput& input);

  double picture_;  // s
  Practice practice_;
  Performer expert_;
  std::vector<std::unique_ptr<Device>> wanted_;  // [instrument]
  MouseHand hand_;
  SessionObserver observer_;
  MouseCounts counts_;
  bool was_down_ = false;
};

}  // namespace trocar::test
