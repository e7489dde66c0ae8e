// Simulates a force-feedback device: a simulated hand (haptic_hand.hpp) follows the target of a script and holds a
// handle that the tissue pushes. It runs in its own thread at 1 kHz, like a real device, so that force feedback can be
// tested without hardware. Between frames it feels the local contact model.
// Units: metres, seconds, newtons.   Tested in tests/sim/haptic_stub_test.cpp
#pragma once

#include <functional>
#include <memory>

#include "sim/device/device.hpp"
#include "sim/device/haptic_hand.hpp"

namespace trocar {

class HapticStub final : public Device {
 public:
  // Gives the target position of the tip (m) at the thread's own time (s). The thread calls this function.
  using Target = std::function<glm::dvec3(double time)>;

  // Starts the thread. Throws InputError when hand_fault(params) finds a fault.
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
