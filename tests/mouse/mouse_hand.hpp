// Turns wanted poses of instruments into input of mouse and keyboard, as a person does: whole pixels and notches, one
// instrument at a time. It keeps devices of its own that receive the same input, and corrects the error in the next
// picture. Units: metres, degrees, pixels.   Tested in tests/mouse/mouse_hand_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/window/input/hands.hpp"
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

}  // namespace trocar::test
