// Tests hand-held devices: the fulcrum effect in every view, limits, mouse sensitivity and smoothing, control of the
// scope.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/device/hand_device.hpp"
#include "sim/device/mouse_device.hpp"
#include "sim/scene/scope.hpp"

namespace trocar::hand_device_test {
namespace {

const HeldTool kTool{{0, 0, 0.2}, {0, 0, 0.1}, glm::dvec3(0.0), {}, 0.0};

DevicePose settled(MouseDevice& mouse) {
  static std::uint64_t frame = 0;
  DevicePose pose;
  for (int k = 0; k < 200; ++k, ++frame) pose = mouse.pose({frame, static_cast<double>(frame) / 60.0});
  return pose;
}

MouseParams following() {
  MouseParams params;
  params.fulcrum = false;
  return params;
}

// Motion of the tip in the picture when the handle moves right, then up.
struct OnScreen {
  double right = 0.0, up = 0.0;  // m
};
OnScreen moved(const ScopeAxes& axes, const HeldTool& tool, const MouseParams& params, double right, double up) {
  MouseDevice mouse(tool, params);
  mouse.set_screen(axes.right, axes.up);
  mouse.move(right, up);
  const glm::dvec3 displacement = settled(mouse).tip - tool.tip;
  return {glm::dot(displacement, axes.right), glm::dot(displacement, axes.up)};
}

// Tests scopes from below, from the side and oblique: when the handle moves right, the tip moves left; when the handle
// moves up, the tip moves down. Without the fulcrum effect the tip follows the handle.
TEST(Fulcrum, TheTipMovesOppositeToTheHandleInEveryView) {
  const HeldTool tool{{-0.095, -0.075, 0.265}, {-0.060, 0.075, 0.178}, glm::dvec3(0.0), {}, 0.0};
  for (const glm::dvec3& eye :
       {glm::dvec3(0, -0.105, 0.265), glm::dvec3(0.15, 0.0, 0.25), glm::dvec3(-0.02, -0.2, 0.2)}) {
    for (const double angle : {0.0, 30.0}) {
      const ScopeAxes axes = axes_of(scope_looking_at(eye, {-0.018, 0.055, 0.150}, angle, 40.0, 0.16));
      const OnScreen right = moved(axes, tool, {}, 40.0, 0.0), up = moved(axes, tool, {}, 0.0, 40.0);
      EXPECT_LT(right.right, -0.001);
      EXPECT_LT(std::abs(right.up), std::abs(right.right));
      EXPECT_LT(up.up, -0.001);
      const OnScreen with = moved(axes, tool, following(), 40.0, 0.0),
                     with_up = moved(axes, tool, following(), 0.0, 40.0);
      EXPECT_GT(with.right, 0.001);
      EXPECT_GT(with_up.up, 0.001);
    }
  }
}

TEST(Fulcrum, IsTheDefaultAndCanBeChanged) {
  MouseDevice mouse(kTool);
  EXPECT_TRUE(mouse.fulcrum());
  mouse.set_screen({1, 0, 0}, {0, 1, 0});
  mouse.move(50, 0);
  const double left = settled(mouse).tip.x;
  EXPECT_LT(left, -0.005);
  mouse.set_fulcrum(false);
  mouse.move(50, 0);
  EXPECT_NEAR(settled(mouse).tip.x, 0.0, 1e-4);
}

// The joints agree: when the handle moves towards the head, the tilt is positive and the tip moves towards the feet.
TEST(Fulcrum, AHandleTowardsTheHeadMovesTheTipToTheFeet) {
  MouseDevice mouse(kTool);
  mouse.set_screen({1, 0, 0}, {0, 1, 0});
  mouse.move(0, 100);
  EXPECT_NEAR(glm::radians(mouse.joints().tilt_deg), std::atan(100 * MouseParams{}.swing_per_pixel), 1e-9);
  EXPECT_LT(settled(mouse).tip.y, -0.01);
}

TEST(MouseDevice, SwingsInProportionToTheMouse) {
  MouseDevice mouse(kTool, following());
  mouse.set_screen({1, 0, 0}, {0, 1, 0});
  mouse.move(100, 0);
  const DevicePose right = settled(mouse);
  const double angle = std::atan(100 * MouseParams{}.swing_per_pixel);
  EXPECT_NEAR(right.tip.x, 0.1 * std::sin(angle), 1e-6);
  EXPECT_NEAR(right.tip.y, 0.0, 1e-9);
  EXPECT_NEAR(glm::length(right.tip - right.pivot), 0.1, 1e-9);
}

// Ten milliseconds after the mouse has moved, the instrument's lag is the same at any tick rate.
TEST(MouseDevice, SmoothingDoesNotDependOnTheFrameRate) {
  double tip_at_1000 = 0.0;
  for (const double rate : {1000.0, 200.0, 100.0}) {
    MouseDevice mouse(kTool, following());
    mouse.set_screen({1, 0, 0}, {0, 1, 0});
    mouse.pose({});
    mouse.move(20, 0);
    DevicePose pose;
    for (int tick = 1; tick <= static_cast<int>(0.1 * rate) / 10; ++tick)
      pose = mouse.pose({static_cast<std::uint64_t>(tick), tick / rate});
    if (rate == 1000.0) tip_at_1000 = pose.tip.x;
    EXPECT_NEAR(pose.tip.x / tip_at_1000, 1.0, 0.001) << rate;
  }
  const double whole = 0.1 * std::sin(std::atan(20 * MouseParams{}.swing_per_pixel));
  EXPECT_NEAR(tip_at_1000 / whole, 1.0 - std::exp(-0.01 / MouseParams{}.smoothing), 0.001);
}

TEST(MouseDevice, StaysWithinEveryLimit) {
  MouseDevice mouse(kTool, following());
  const JointLimits limits;
  const RemoteCentre centre = remote_centre(kTool.pivot, kTool.tip - kTool.pivot);
  mouse.set_screen({1, 0, 0}, {0, 1, 0});
  const auto push = [&](double right, double up, double notches) {
    for (int k = 0; k < 1000; ++k) mouse.move(right, up);
    mouse.insert(notches);
    return joints_of(centre, limits, settled(mouse));
  };
  // +x of the centre is the picture's left here: x = up cross the axis (0, 0, -1).
  EXPECT_NEAR(push(500, 0, 1000).pan_deg, -limits.pan_deg, 1e-6);
  EXPECT_NEAR(mouse.joints().depth, limits.deepest, 1e-12);
  EXPECT_NEAR(push(-500, 0, -1000).pan_deg, limits.pan_deg, 1e-6);
  EXPECT_NEAR(mouse.joints().depth, limits.shallowest, 1e-12);
  EXPECT_NEAR(push(0, 500, 0).tilt_deg, limits.lowest_tilt_deg, 1e-6);
  EXPECT_NEAR(push(0, -500, 0).tilt_deg, limits.highest_tilt_deg, 1e-6);
}

TEST(MouseDevice, ForwardsJawsPedalAndRoll) {
  MouseDevice mouse(kTool);
  EXPECT_EQ(mouse.pose({}).grip, 1.0);
  EXPECT_EQ(mouse.pose({}).energy, Diathermy::Off);
  mouse.press();
  mouse.set_energy(Diathermy::Cut);
  mouse.roll(30.0);
  mouse.roll(-10.0);
  EXPECT_NEAR(mouse.pose({1, 0.05}).grip, 0.75, 1e-12);
  EXPECT_EQ(mouse.pose({2, 0.2}).grip, 0.0);
  EXPECT_EQ(mouse.pose({}).energy, Diathermy::Cut);
  EXPECT_DOUBLE_EQ(mouse.pose({}).roll_deg, 20.0);
  mouse.set_energy(Diathermy::Off);
  EXPECT_EQ(mouse.pose({}).energy, Diathermy::Off);
}

TEST(MouseDevice, InvalidNumbersMoveNothing) {
  MouseDevice mouse(kTool);
  const double nan = std::nan("");
  mouse.move(nan, 0.0);
  mouse.insert(nan);
  mouse.roll(nan);
  const DevicePose pose = mouse.pose({});
  EXPECT_NEAR(glm::length(pose.tip - kTool.tip), 0.0, 1e-12);
  EXPECT_EQ(pose.roll_deg, 0.0);
  EXPECT_EQ(pose.grip, 1.0);
}

// Tests that the same device moves the scope: port, eye, spin of the light post.
TEST(MouseDevice, MovesTheScope) {
  const ScopePose scope = scope_looking_at({0, -0.16, 0.30}, {0, 0.07, 0.13}, 30.0, 20.0, 0.16);
  const HeldTool tool{scope.port, scope.eye, glm::dvec3(0.0), {}, scope.spin_deg};
  MouseDevice mouse(tool);
  const DevicePose start = settled(mouse);
  EXPECT_EQ(start.pivot, scope.port);
  EXPECT_NEAR(glm::length(start.tip - scope.eye), 0.0, 1e-12);
  EXPECT_EQ(start.roll_deg, 20.0);
  const ScopeAxes axes = axes_of(scope);
  mouse.set_screen(axes.right, axes.up);
  mouse.move(60, 0);
  ScopePose now = scope;
  now.eye = settled(mouse).tip;
  mouse.roll(15.0);
  EXPECT_EQ(settled(mouse).roll_deg, 35.0);
  EXPECT_LT(glm::dot(axes_of(now).forward, axes.right), 0.0);  // the handle moves right, the view turns left
}

TEST(StartFault, NamesTheLimit) {
  EXPECT_EQ(start_fault(kTool), "");
  HeldTool tool = kTool;
  tool.tip = {0, 0, -0.3};
  EXPECT_NE(start_fault(tool).find("500 mm"), std::string::npos) << start_fault(tool);
  tool = kTool;
  tool.axis = {1, 0, 0};
  EXPECT_NE(start_fault(tool).find("pan"), std::string::npos) << start_fault(tool);
  tool.axis = {0, 1, 0};
  EXPECT_NE(start_fault(tool), "");
}

}  // namespace

// Tests a gamepad whose state the test sets: dead zone, curve, every control, unplugged and plugged in.

namespace {

constexpr double kFrame = 1.0 / 60.0;

struct Pad {
  Pad() { state.connected = true; }
  DevicePose run(int frames) {
    DevicePose pose;
    for (int k = 0; k < frames; ++k) {
      pose = device.pose({frame, static_cast<double>(frame) * kFrame});
      ++frame;
    }
    return pose;
  }
  GamepadState state;
  GamepadParams params;
  std::uint64_t frame = 0;
  GamepadDevice device{{{0, 0, 0.2}, {0, 0, 0.1}, glm::dvec3(0.0), {}, 0.0}, [this] { return state; }};
};

TEST(StickRate, DeadZoneCurveAndDirection) {
  const GamepadParams params;
  EXPECT_EQ(stick_rate(params, 0.0, 0.0), glm::dvec2(0.0));
  EXPECT_EQ(stick_rate(params, 0.1, -0.1), glm::dvec2(0.0));
  EXPECT_EQ(stick_rate(params, std::nan(""), 0.0), glm::dvec2(0.0));
  EXPECT_NEAR(stick_rate(params, 1.0, 0.0).x, 1.0, 1e-12);
  EXPECT_NEAR(glm::length(stick_rate(params, 1.0, -1.0)), 1.0, 1e-12);
  const double half = 0.5 * (1.0 + params.dead_zone);
  EXPECT_NEAR(stick_rate(params, 0.0, -half).y, -0.25, 1e-12);
  // Continuous at the end of the dead zone.
  EXPECT_LT(glm::length(stick_rate(params, params.dead_zone + 1e-6, 0.0)), 1e-9);
  const glm::dvec2 askew = stick_rate(params, 0.3, 0.4);
  EXPECT_NEAR(askew.y / askew.x, 4.0 / 3.0, 1e-12);
}

TEST(GamepadDevice, StaysAtItsStart) {
  Pad pad;
  pad.state.axes[0] = 0.1f;  // a worn stick
  const DevicePose pose = pad.run(100);
  EXPECT_NEAR(glm::length(pose.tip - glm::dvec3(0, 0, 0.1)), 0.0, 1e-12);
  EXPECT_EQ(pose.grip, 1.0);
  EXPECT_EQ(pose.energy, Diathermy::Off);
  EXPECT_EQ(pad.device.health(), DeviceHealth::Good);
}

TEST(GamepadDevice, LeftStickSwingsTheHandle) {
  Pad pad;
  pad.device.set_screen({1, 0, 0}, {0, 1, 0});
  pad.state.axes[0] = 1.f;  // the handle moves right, the tip left
  pad.run(1);
  const DevicePose left = pad.run(30);
  EXPECT_LT(left.tip.x, 0.0);
  const double swung = std::asin(-left.tip.x / 0.1);
  EXPECT_NEAR(glm::degrees(swung), pad.params.swing_rate_deg * 0.5, 1.0);
  pad.state.axes[0] = 0.f;
  pad.state.axes[1] = -1.f;  // up, because GLFW's y points down
  EXPECT_LT(pad.run(30).tip.y, -0.01);
  pad.device.set_fulcrum(false);
  pad.state.axes[1] = 1.f;
  const double before = pad.run(1).tip.y;
  EXPECT_LT(pad.run(30).tip.y, before);
}

TEST(GamepadDevice, RightStickInsertsAndTurns) {
  Pad pad;
  pad.state.axes[3] = -1.f;
  pad.run(1);
  const DevicePose in = pad.run(60);
  EXPECT_NEAR(glm::length(in.tip - in.pivot), 0.1 + pad.params.insert_rate, 1e-6);
  pad.state.axes[3] = 0.f;
  pad.state.axes[2] = 1.f;
  EXPECT_NEAR(pad.run(60).roll_deg, pad.params.spin_rate_deg, 1e-6);
  pad.state.axes[2] = 0.f;
  pad.state.buttons[4] = true;
  EXPECT_NEAR(pad.run(60).roll_deg, 0.0, 1e-6);
}

TEST(GamepadDevice, TriggersCloseTheJawsAndBurn) {
  Pad pad;
  pad.state.axes[5] = 0.f;
  EXPECT_NEAR(pad.run(1).grip, 0.5, 1e-6);
  pad.state.axes[5] = 1.f;
  EXPECT_NEAR(pad.run(1).grip, 0.0, 1e-6);
  pad.state.axes[4] = 0.9f;
  EXPECT_EQ(pad.run(1).energy, Diathermy::Cut);
  pad.state.axes[4] = -1.f;
  EXPECT_EQ(pad.run(1).energy, Diathermy::Off);
  pad.state.buttons[0] = true;
  EXPECT_EQ(pad.run(1).energy, Diathermy::Cut);
}

TEST(GamepadDevice, UnpluggedItIsLostAndDoesNotMove) {
  Pad pad;
  pad.state.axes[3] = -1.f;
  pad.state.buttons[0] = true;
  const DevicePose before = pad.run(10);
  pad.state.connected = false;
  const DevicePose out = pad.run(30);
  EXPECT_EQ(pad.device.health(), DeviceHealth::Lost);
  EXPECT_EQ(out.tip, before.tip);
  EXPECT_EQ(out.energy, Diathermy::Off);
  pad.state.connected = true;
  const DevicePose back = pad.run(1);
  EXPECT_EQ(pad.device.health(), DeviceHealth::Good);
  EXPECT_LE(glm::length(back.tip - before.tip), pad.params.insert_rate * kFrame + 1e-9);
}

TEST(GamepadDevice, InvalidAxisValuesMoveNothing) {
  Pad pad;
  for (float& axis : pad.state.axes) axis = std::nanf("");
  const DevicePose pose = pad.run(10);
  EXPECT_NEAR(glm::length(pose.tip - glm::dvec3(0, 0, 0.1)), 0.0, 1e-12);
  EXPECT_TRUE(std::isfinite(pose.grip + pose.roll_deg));
}

// After a pause of the program the instrument does not catch up on the missed time.
TEST(GamepadDevice, APauseCausesNoJump) {
  Pad pad;
  pad.state.axes[3] = -1.f;
  pad.device.pose({0, 0.0});
  const DevicePose pose = pad.device.pose({1, 10.0});
  EXPECT_LT(glm::length(pose.tip - pose.pivot), 0.1 + pad.params.insert_rate / 9.0);
}

}  // namespace

// Tests the ratchet of the handle: clicks and longer presses, measured in seconds, at any rate of frames.

namespace {

// Presses the button from `from` to `to` (s) at `rate` frames per second, and goes on for half a second.
void press(GripRatchet& ratchet, double from, double to, double rate) {
  bool down = false;
  for (int frame = 0; frame / rate < to + 0.5; ++frame) {
    const double time = frame / rate;
    const bool wanted = time >= from && time < to;
    if (wanted && !down) ratchet.press(time);
    if (!wanted && down) ratchet.release(time);
    down = wanted;
    ratchet.advance(time);
  }
}

constexpr double kRates[] = {30.0, 60.0, 144.0, 1000.0};

TEST(GripRatchet, AClickIsALightGripAndTheNextOneOpens) {
  for (const double rate : kRates) {
    GripRatchet ratchet;
    EXPECT_FALSE(ratchet.closed());
    press(ratchet, 0.1, 0.2, rate);
    EXPECT_TRUE(ratchet.closed()) << rate;
    EXPECT_DOUBLE_EQ(ratchet.force(), RatchetParams{}.light) << rate;
    press(ratchet, 0.1, 0.2, rate);
    EXPECT_FALSE(ratchet.closed()) << rate;
  }
}

TEST(GripRatchet, AHoldIsAFirmGripThatStaysClosed) {
  for (const double rate : kRates) {
    GripRatchet ratchet;
    press(ratchet, 0.1, 0.5, rate);
    EXPECT_TRUE(ratchet.closed()) << rate;
    EXPECT_DOUBLE_EQ(ratchet.force(), 1.0) << rate;
    press(ratchet, 0.1, 0.5, rate);
    EXPECT_TRUE(ratchet.closed()) << "a second hold does not open, at " << rate;
    press(ratchet, 0.1, 0.2, rate);
    EXPECT_FALSE(ratchet.closed()) << rate;
    press(ratchet, 0.1, 0.2, rate);
    EXPECT_DOUBLE_EQ(ratchet.force(), RatchetParams{}.light) << "light again, at " << rate;
  }
}

TEST(GripRatchet, AHoldMakesALightGripFirm) {
  for (const double rate : kRates) {
    GripRatchet ratchet;
    press(ratchet, 0.1, 0.2, rate);
    press(ratchet, 0.1, 0.5, rate);
    EXPECT_TRUE(ratchet.closed()) << rate;
    EXPECT_DOUBLE_EQ(ratchet.force(), 1.0) << rate;
  }
}

// The jaws close when the button goes down, and the grip becomes firm after a quarter of a second, at any rate.
TEST(GripRatchet, ActsInSecondsNotInFrames) {
  for (const double rate : kRates) {
    GripRatchet ratchet;
    ratchet.press(0.0);
    double firm_at = -1.0;
    for (int frame = 0; frame / rate < 1.0; ++frame) {
      ratchet.advance(frame / rate);
      EXPECT_TRUE(ratchet.closed());
      if (ratchet.force() == 1.0 && firm_at < 0.0) firm_at = frame / rate;
    }
    EXPECT_GE(firm_at, 0.25);
    EXPECT_LT(firm_at, 0.25 + 1.0 / rate + 1e-9);
  }
}

// A pause of the session ends a press; a release without a press does nothing.
TEST(GripRatchet, APressThatIsLetGoIsNoClick) {
  GripRatchet ratchet;
  ratchet.release(0.0);
  EXPECT_FALSE(ratchet.closed());
  ratchet.press(0.0);
  ratchet.let_go();
  ratchet.release(0.1);
  ratchet.advance(10.0);
  EXPECT_TRUE(ratchet.closed());
  EXPECT_LT(ratchet.force(), 1.0);
  ratchet.press(11.0);
  ratchet.let_go();
  EXPECT_TRUE(ratchet.closed()) << "closed jaws keep their grip";
}

TEST(GripRatchet, ScissorsAreClosedWhileTheButtonIsDown) {
  GripRatchet blades({.latches = false});
  for (const double duration : {0.1, 0.5}) {
    blades.press(0.0);
    EXPECT_TRUE(blades.closed());
    EXPECT_DOUBLE_EQ(blades.force(), 1.0);
    blades.release(duration);
    EXPECT_FALSE(blades.closed());
  }
  blades.press(1.0);
  blades.let_go();
  EXPECT_FALSE(blades.closed());
}

TEST(MouseDevice, TheButtonWorksTheJawsThroughTheRatchet) {
  HeldTool tool;
  for (const bool ratchet : {true, false}) {
    tool.ratchet = ratchet;
    MouseDevice mouse(tool);
    EXPECT_EQ(mouse.pose({0, 1.0}).grip, 1.0);
    mouse.press();
    EXPECT_NEAR(mouse.pose({1, 1.1}).grip, 0.5, 1e-12);
    EXPECT_NEAR(mouse.pose({2, 1.2}).grip, 0.0, 1e-12);
    EXPECT_DOUBLE_EQ(mouse.pose({2, 1.2}).grip_force, ratchet ? 1.0 / 3.0 : 1.0);
    mouse.release();
    EXPECT_EQ(mouse.pose({3, 1.5}).grip, ratchet ? 0.0 : 1.0);
    mouse.press();
    EXPECT_DOUBLE_EQ(mouse.pose({4, 1.8}).grip_force, 1.0);
    mouse.release();
    EXPECT_EQ(mouse.pose({5, 2.1}).grip, ratchet ? 0.0 : 1.0);
  }
}

}  // namespace

}  // namespace trocar::hand_device_test
