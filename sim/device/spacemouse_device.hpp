// Makes a SpaceMouse an input device, which moves the handle of an instrument or of the scope: its puck sets rates
// about the trocar. Uses the daemon spacenavd and its library libspnav. Its own thread receives the events, so a frame
// never waits.
//   puck right, lean right    moves the handle right     push forward, pull back   inserts, withdraws
//   puck up, tip back         moves the handle up        twist                     turns about the shaft
//   first button, held        jaws closed                second button, held       cut
//                                                        third button, held        coagulate
// A puck at rest sends no events, and neither does a puck held still at full deflection, so missing events are not a
// failure. The device is Lost while the daemon is not available, and Good again when it is back.
// Units: metres, degrees, seconds.   Tested in tests/sim/spacemouse_device_test.cpp
#pragma once

#include <array>
#include <functional>

#include "sim/device/hand_device.hpp"

namespace trocar {

struct SpaceMouseState {
  bool connected = false;
  // Counts from spacenavd, about -350..350: x right, y up, z forward, then rotations about right (tip back), up
  // (counter-clockwise from above) and forward (lean right).
  std::array<int, 6> axes{};
  std::array<bool, 3> buttons{};
};
using SpaceMouseSource = std::function<SpaceMouseState()>;

struct SpaceMouseParams {
  double full_scale = 350.0;     // counts  at full deflection, > 0
  double dead_zone = 0.06;       // 1       fraction of full_scale, 0..0.9
  double curve = 1.5;            // 1       >= 1; above 1 for fine control near the centre
  double swing_rate_deg = 40.0;  // deg/s   at full deflection
  double insert_rate = 0.08;     // m/s     at full deflection
  double spin_rate_deg = 120.0;  // deg/s   at full deflection
  bool fulcrum = true;           //         the puck moves the handle, the tip moves in the opposite direction
};

class SpaceMouseDevice final : public RateDevice {
 public:
  SpaceMouseDevice(const HeldTool& tool, SpaceMouseSource source, const SpaceMouseParams& params = {});

  DevicePose pose(const FrameClock& clock) override;

 private:
  SpaceMouseParams params_;
  SpaceMouseSource source_;
};

}  // namespace trocar
