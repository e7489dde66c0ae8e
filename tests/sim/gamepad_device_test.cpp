// Tests a gamepad whose state the test sets: dead zone, curve, every control, unplugged and plugged in.
#include "sim/device/hand_device.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trocar {
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
}  // namespace trocar
