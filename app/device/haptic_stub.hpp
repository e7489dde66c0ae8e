// A force-feedback device made of software: a simulated hand (haptic_hand.hpp) goes where a script wants it and holds a
// handle that the tissue pushes. Runs in a thread of its own at 1 kHz, as real devices do, so that everything about
// forces can be driven and tested without hardware; between frames it feels the local contact model.
// Units: metres, seconds, newtons.   Tested in tests/app/haptic_stub_test.cpp
#pragma once

#include <functional>
#include <memory>

#include "app/device/device.hpp"
#include "app/device/haptic_hand.hpp"

namespace trocar {

class HapticStub final : public Device {
 public:
  // Where the hand wants the tip, by the thread's own time in seconds. Called from the thread.
  using Target = std::function<glm::dvec3(double time)>;

  // Error: InputError when hand_fault(params) says so.
  HapticStub(const glm::dvec3& pivot, const glm::dvec3& tip, Target target, const HapticStubParams& params = {});
  ~HapticStub() override;

  DevicePose pose(const FrameClock& clock) override;
  void feel(const Felt& felt) override;
  HapticState state() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace trocar
