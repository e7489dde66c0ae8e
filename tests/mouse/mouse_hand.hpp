// Turns wanted poses of instruments into input of mouse and keyboard, as a person does: whole pixels and notches, one
// instrument at a time. It keeps devices of its own that receive the same input, and corrects the error in the next
// picture. Units: metres, degrees, pixels.   Tested in tests/mouse/mouse_hand_test.cpp
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "app/window/input/hands.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "sim/scene/scene.hpp"

namespace trocar::test {

class MouseHand {
 public:
  explicit MouseHand(const Scene& scene);

  // Returns the input of the next picture. `wanted`: [instrument].
  WindowInput reach(std::span<const DevicePose> wanted, const ScopeAxes& axes);
  // Tells what has arrived. `elapsed`: s of the session's ticks.
  void felt(const WindowInput& input, const ScopeAxes& axes, double elapsed);

  // Selects an instrument, as Hands::take().
  void take(std::size_t number) { hands_.take(number); }
  std::size_t in_hand() const { return hands_.in_hand(); }
  // Returns where an instrument comes to rest when nothing more is moved.
  DevicePose rest_pose(std::size_t instrument);

 private:
  // A handle with a ratchet opens by a click and closes firmly by a longer press.
  struct Handle {
    bool ratchet = true, closed = false;
    int pictures_down = 0;  // of the current press; 0: none
  };
  bool busy(const DevicePose& wanted, std::size_t k);
  void swing(const DevicePose& now, const DevicePose& wanted, const ScopeAxes& axes, WindowInput& input) const;
  void work_jaws(bool close, Handle& handle, WindowInput& input);

  Hands hands_;
  std::vector<std::unique_ptr<Device>> devices_;  // [instrument]
  std::unique_ptr<Device> scope_;
  std::vector<Handle> handles_;  // [instrument]
  double time_ = 0.0;            // s, of the devices: they come to rest between two pictures, and do not work jaws
};

// An attempt at a task with mouse and keyboard: the practice screen of the window, whose input an operator makes who
// wants to do what the scripted expert would do. Units: seconds.   Tested in tests/mouse/mouse_hand_test.cpp

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
