// A virtual force-feedback device: a hand of some mass holds the handle and pulls it towards where a script wants it,
// the tissue pushes back. Runs in a thread of its own at 1 kHz, as real devices do, so that everything about forces can
// be driven and tested without hardware; between frames it feels the local contact model. Units: metres, kilograms,
// seconds, newtons. Tested in tests/app/haptic_stub_test.cpp
#pragma once

#include <functional>
#include <memory>

#include "app/device/contact_model.hpp"
#include "app/device/device.hpp"

namespace trocar {

struct HapticStubParams {
  double mass = 0.15;          // kg     hand and handle as felt at the tip, > 0
  double stiffness = 400.0;    // N/m    how firmly the hand pulls to its target, > 0
  double damping = 12.0;       // N s/m  > 0
  double rate = 1000.0;        // Hz     of the thread
  ContactModelParams contact;  //        what is felt between frames
};

struct HapticState {
  glm::dvec3 tip{0.0}, velocity{0.0};  // m, m/s
  glm::dvec3 felt_force{0.0};          // N, as applied in the last tick
  std::uint64_t ticks = 0;
};

// One tick of the hand: pure, so that it can be tested without the thread. Semi-implicit Euler. A force stronger than
// the motors give is cut down, one that is not finite is none.
HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt);

class HapticStub final : public Device {
 public:
  // Where the hand wants the tip, by the thread's own time in seconds. Called from the thread.
  using Target = std::function<glm::dvec3(double time)>;

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
