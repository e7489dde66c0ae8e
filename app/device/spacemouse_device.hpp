// A SpaceMouse as the hand on an instrument's handle, or on the scope's: its puck gives rates about the trocar. Through
// the daemon spacenavd and its library libspnav; a thread of its own listens, so that a frame never waits.
//   puck right, lean right    the hand goes right        push forward, pull back   in, out
//   puck up, tip back         the hand goes up           twist                     turns about the shaft
//   first button, held        jaws closed                second button, held       energy
// A puck at rest is silent, and so is one held still at full deflection: silence says nothing about its health. It is
// Lost while the daemon is gone, and Good again when it is back.
// Units: metres, degrees, seconds.   Tested in tests/app/spacemouse_device_test.cpp
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "app/device/hand_device.hpp"

namespace trocar {

struct SpaceMouseState {
  bool connected = false;
  // Counts as spacenavd gives them, about -350..350: x right, y up, z forward, then turns about right (tip back), up
  // (counter-clockwise from above) and forward (lean right).
  std::array<int, 6> axes{};
  std::array<bool, 2> buttons{};
};
using SpaceMouseSource = std::function<SpaceMouseState()>;

struct SpaceMouseParams {
  double full_scale = 350.0;     // counts  of a puck fully over, > 0
  double dead_zone = 0.06;       // 1       of it, 0..0.9
  double curve = 1.5;            // 1       >= 1: fine near the centre
  double swing_rate_deg = 40.0;  // deg/s   fully over
  double insert_rate = 0.08;     // m/s
  double spin_rate_deg = 120.0;  // deg/s
  bool fulcrum = true;           //         the puck is the handle, the tip goes the other way
};

class SpaceMouseDevice final : public HandDevice {
 public:
  SpaceMouseDevice(const HeldTool& tool, SpaceMouseSource source, const SpaceMouseParams& params = {});

  DevicePose pose(const FrameClock& clock) override;
  DeviceHealth health() const override { return connected_ ? DeviceHealth::Good : DeviceHealth::Lost; }

 private:
  SpaceMouseParams params_;
  SpaceMouseSource source_;
  double time_ = 0.0;  // s  of the last pose
  bool started_ = false, connected_ = false;
};

// Listens to spacenavd. libspnav holds one connection for a process, so there can be one of these at a time.
class SpaceMouseReader {
 public:
  // Error: InputError when the daemon does not answer, or there is a reader already.
  SpaceMouseReader();
  ~SpaceMouseReader();
  // Never blocks on the daemon.
  SpaceMouseState state() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Whether spacenavd answers now; not while there is a reader.
bool spacenavd_answers();

}  // namespace trocar
