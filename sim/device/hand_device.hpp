// Hand-held devices: the common part of mouse, gamepad and SpaceMouse, then the last two. The common part converts
// increments of motion to joints within limits. Fulcrum effect: the user holds the handle outside the body, and the
// shaft pivots in the trocar between handle and tip, so the tip moves opposite to the handle. A motion to the right and
// up in the picture moves the tip to the left and down, as at the operating table; trainees have to learn this. With
// `fulcrum = false` the tip follows the motion instead, for users who only need to position an instrument. Insertion
// and rotation do not depend on the setting. The same class moves an instrument (pivot and tip) or the scope (port and
// eye); roll is the spin. Units: metres, degrees, radians where noted.   Tested in
// tests/sim/device/hand_device_test.cpp
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/device.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/instrument_scene.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// The instrument or scope that a device holds.
struct HeldTool {
  glm::dvec3 pivot{0.0}, tip{0.0, 0.0, 0.1};  // m   at the start
  glm::dvec3 axis{0.0};                       // 1   direction at zero pan and tilt; zero: from pivot to tip
  JointLimits limits;
  double spin_deg = 0.0;           // deg  at the start
  bool ratchet = true;             //      the handle has a ratchet, which keeps the jaws closed
  AxisScale axes = {};             //      of hand-held devices
  Registration registration = {};  // of a tracker
};

// Returns an empty text when the tool starts within its limits; else the joint that is outside them, with its limits.
std::string start_fault(const HeldTool& tool);

class HandDevice : public Device {
 public:
  HandDevice(const HeldTool& tool, bool fulcrum);

  // Sets the right and up directions of the picture: unit vectors in the world frame.
  void set_screen(const glm::dvec3& right, const glm::dvec3& up);
  void set_fulcrum(bool on) { fulcrum_ = on; }
  bool fulcrum() const { return fulcrum_; }

  // Returns the target joints of the instrument, which are within the limits.
  const Joints& joints() const { return joints_; }
  const JointLimits& limits() const { return limits_; }
  const RemoteCentre& centre() const { return centre_; }

 protected:
  // Swings the handle by these angles (radians) to the right and up in the picture.
  void swing(double right, double up);
  void push(double metres);  // into the body; negative: withdraws
  void spin(double degrees);
  void set_jaws(double grip);  // 0 closed .. 1 open
  // Takes these joints, as far as the limits allow. The aperture stays.
  void set_joints(const Joints& joints);
  void set_pedal(Diathermy pedal) { pedal_ = pedal; }
  // Moves the tip by the fraction `share` of its distance to the target joints (1: all of it), spin and jaws at once.
  // Returns the pose of the instrument.
  DevicePose follow(double share);

 private:
  RemoteCentre centre_;
  JointLimits limits_;
  AxisScale axes_;
  Joints joints_;
  glm::dvec3 right_{1, 0, 0}, up_{0, 1, 0};
  glm::dvec3 direction_;  // current direction of the shaft
  double depth_;          // m, current
  bool fulcrum_;
  Diathermy pedal_ = {};
};

// An input device that reports rates of motion, such as a stick.
class RateDevice : public HandDevice {
 public:
  using HandDevice::HandDevice;
  DeviceHealth health() const override { return connected_ ? DeviceHealth::Good : DeviceHealth::Lost; }

 protected:
  // Returns the time since the previous pose, s: 0 at first, and at most one tick at a scene's lowest frame rate: a
  // longer gap is a pause, during which the device was not read. Releases the pedal when the device is not connected.
  double begin_pose(const FrameClock& clock, bool connected);
  bool connected() const { return connected_; }

 private:
  double time_ = 0.0;  // s  of the last pose
  bool started_ = false, connected_ = false;
};

// Returns what a hand-held device holds, from a scene.   Tested in tests/sim/device/make_device_test.cpp

HeldTool held_tool(const InstrumentScene& instrument);
HeldTool held_tool(const ScopeScene& scope);

// Makes a gamepad an input device, which moves the handle of an instrument or of the scope. Sticks and shoulder buttons
// set rates, the right trigger sets the jaws, the left trigger and two buttons are the pedals. Axes and buttons follow
// GLFW's mapping (SDL's database).
//   left stick   swings the handle          right stick, up and down   inserts, withdraws
//   right stick, left and right, LB, RB     turn about the shaft
//   right trigger closes the jaws           left trigger or A          cut
//                                           B                          coagulate
// A stick deflected by r > dead zone z gives ((r - z) / (1 - z))^curve of the full rate, in the stick's direction.
// Units: metres, degrees, seconds.   Tested in tests/sim/device/hand_device_test.cpp
struct GamepadState {
  bool connected = false;
  // -1..1: left x, left y, right x, right y (y down), left trigger, right trigger (-1 released .. 1 pressed)
  std::array<float, 6> axes{0.f, 0.f, 0.f, 0.f, -1.f, -1.f};
  std::array<bool, 15> buttons{};  // A, B, X, Y, LB, RB, back, start, guide, left stick, right stick, up, right, ...
};
using GamepadSource = std::function<GamepadState()>;

struct GamepadParams {
  double dead_zone = 0.15;        // 1        0..0.9; worn sticks rest off centre
  double curve = 2.0;             // 1        >= 1; above 1 for fine control near the centre
  double swing_rate_deg = 45.0;   // deg/s    at full deflection
  double insert_rate = 0.08;      // m/s      at full deflection
  double spin_rate_deg = 150.0;   // deg/s    at full deflection
  double pedal_threshold = 0.25;  // 1        travel of the left trigger that presses the pedal, 0..1
  bool fulcrum = true;            //          the stick moves the handle, the tip moves in the opposite direction
};

// Maps a stick's deflection (x, y in -1..1) to a fraction of the full rate, of length at most 1.
glm::dvec2 stick_rate(const GamepadParams& params, double x, double y);

class GamepadDevice final : public RateDevice {
 public:
  GamepadDevice(const HeldTool& tool, GamepadSource source, const GamepadParams& params = {});

  DevicePose pose(const FrameClock& clock) override;

 private:
  GamepadParams params_;
  GamepadSource source_;
};

// Makes a SpaceMouse an input device, which moves the handle of an instrument or of the scope: its puck sets rates
// about the trocar. Uses the daemon spacenavd and its library libspnav. Its own thread receives the events, so a frame
// never waits.
//   puck right, lean right    moves the handle right     push forward, pull back   inserts, withdraws
//   puck up, tip back         moves the handle up        twist                     turns about the shaft
//   first button, held        jaws closed                second button, held       cut
//                                                        third button, held        coagulate
// A puck at rest sends no events, and neither does a puck held still at full deflection, so missing events are not a
// failure. The device is Lost while the daemon is not available, and Good again when it is back.
// Units: metres, degrees, seconds.   Tested in tests/sim/device/spacemouse_device_test.cpp
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
