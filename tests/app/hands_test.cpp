// Tests mouse and keyboard as an input device: which instrument they move, how far, and what the buttons work.
#include "app/window/input/hands.hpp"

#include <gtest/gtest.h>

namespace trocar {
namespace {

// Two instruments held by the mouse, pointing straight down, and a scope between them; the screen's axes are x and y.
class HandsOnTheTable : public ::testing::Test {
 protected:
  HandsOnTheTable() {
    hands_.add(&first_);
    hands_.add(nullptr);
    hands_.add(&third_);
    hands_.set_scope(&scope_);
  }
  glm::dvec3 tip(MouseDevice& mouse) {
    DevicePose pose;
    for (int k = 0; k < 60; ++k, ++frame_) pose = mouse.pose({frame_, static_cast<double>(frame_) / 60.0});
    return pose.tip;
  }
  static WindowInput motion(double right, double up) {
    WindowInput input;
    input.pointer_motion = {right, up};
    return input;
  }

  MouseDevice first_{{-0.1, 0, 0}, {-0.1, 0, -0.1}}, third_{{0.1, 0, 0}, {0.1, 0, -0.1}},
      scope_{{0, 0, 0}, {0, 0, -0.1}};
  Hands hands_;
  HandSettings settings_;
  std::uint64_t frame_ = 0;
};

TEST_F(HandsOnTheTable, TabCyclesThroughWhatTheMouseMoves) {
  EXPECT_EQ(hands_.in_hand(), 0u);
  hands_.take_next();
  EXPECT_EQ(hands_.in_hand(), 2u);
  hands_.take_next();
  EXPECT_TRUE(hands_.scope_in_hand());
  hands_.take_next();
  EXPECT_EQ(hands_.in_hand(), 0u);
}

TEST_F(HandsOnTheTable, WithoutMouseDevicesNothingIsSelected) {
  Hands none;
  none.add(nullptr);
  none.set_scope(nullptr);
  none.take_next();
  EXPECT_FALSE(none.scope_in_hand());
  EXPECT_GT(none.in_hand(), 1u);
  none.move(motion(10, 10), {}, 0.016, settings_);
}

TEST_F(HandsOnTheTable, TheTipMovesWithOrAgainstTheMouse) {
  settings_.fulcrum = false;
  hands_.move(motion(50, 0), {}, 0.016, settings_);
  const glm::dvec3 with = tip(first_);
  EXPECT_GT(with.x, -0.1);
  EXPECT_NEAR(with.y, 0.0, 1e-12);
  settings_.fulcrum = true;
  hands_.move(motion(100, 0), {}, 0.016, settings_);
  EXPECT_LT(tip(first_).x, -0.1);
  EXPECT_DOUBLE_EQ(tip(third_).x, 0.1);
}

// A notch of the wheel moves the tip by the same way at any number of pictures a second, and not at once.
TEST_F(HandsOnTheTable, TheWheelInsertsSmoothly) {
  WindowInput notch;
  notch.wheel = 1.0;
  hands_.move(notch, {}, 0.016, settings_);
  const double first = -0.1 - tip(first_).z;
  for (int k = 0; k < 60; ++k) hands_.move({}, {}, 0.016, settings_);
  const double whole = -0.1 - tip(first_).z;
  EXPECT_GT(first, 0.0);
  EXPECT_LT(first, 0.5 * whole);
  EXPECT_NEAR(whole, MouseParams().insert_per_notch, 1e-5);
  hands_.take(2);
  hands_.move(notch, {}, 0.1, settings_);
  for (int k = 0; k < 10; ++k) hands_.move({}, {}, 0.1, settings_);
  EXPECT_NEAR(-0.1 - tip(third_).z, whole, 1e-5);
}

TEST_F(HandsOnTheTable, SensitivityFineMovementAndKeysApplyToDepth) {
  const auto depth_of = [&](const WindowInput& input, double speed) {
    settings_.speed = speed;
    const double before = tip(first_).z;
    hands_.move(input, {}, 0.1, settings_);
    for (int k = 0; k < 20; ++k) hands_.move({}, {}, 0.1, settings_);
    return before - tip(first_).z;
  };
  WindowInput wheel, fine, up, down;
  wheel.wheel = fine.wheel = 1.0;
  fine.held[static_cast<std::size_t>(Key::Shift)] = true;
  up.held[static_cast<std::size_t>(Key::Up)] = down.held[static_cast<std::size_t>(Key::Down)] = true;
  const double notch = depth_of(wheel, 1.0);
  EXPECT_NEAR(depth_of(wheel, 2.0), 2.0 * notch, 1e-6);
  EXPECT_NEAR(depth_of(fine, 1.0), 0.25 * notch, 1e-6);
  const double inserted = depth_of(up, 1.0);
  EXPECT_GT(inserted, 0.0);
  EXPECT_NEAR(depth_of(down, 1.0), -inserted, 1e-9);
}

// What the wheel still owes one instrument does not move the next, and is not lost.
TEST_F(HandsOnTheTable, AnotherInstrumentDoesNotTakeTheWheelsMotion) {
  WindowInput notch;
  notch.wheel = 5.0;
  hands_.move(notch, {}, 0.016, settings_);
  hands_.take(2);
  EXPECT_EQ(hands_.in_hand(), 2u);
  for (int k = 0; k < 20; ++k) hands_.move({}, {}, 0.016, settings_);
  EXPECT_DOUBLE_EQ(tip(third_).z, -0.1);
  EXPECT_NEAR(-0.1 - tip(first_).z, 5.0 * MouseParams().insert_per_notch, 1e-5);
  hands_.take(1);
  EXPECT_EQ(hands_.in_hand(), 2u) << "another device moves it";
  hands_.take(3);
  EXPECT_TRUE(hands_.scope_in_hand());
}

// The scope's port is a fulcrum, too: the eye moves against the hand, as a tip does.
TEST_F(HandsOnTheTable, TheRightButtonMovesTheScopeWhicheverInstrumentIsSelected) {
  WindowInput input = motion(40, 30);
  input.right_button = true;
  hands_.move(input, {}, 0.016, settings_);
  EXPECT_LT(tip(scope_).x, 0.0);
  EXPECT_LT(tip(scope_).y, 0.0);
  EXPECT_DOUBLE_EQ(tip(first_).y, 0.0);
  settings_.fulcrum = false;
  for (int twice = 0; twice < 2; ++twice) hands_.move(input, {}, 0.016, settings_);
  EXPECT_GT(tip(scope_).x, 0.0);
  EXPECT_GT(tip(scope_).y, 0.0);
}

TEST_F(HandsOnTheTable, EveryHandHeldDeviceObeysTheSetting) {
  EXPECT_TRUE(settings_.fulcrum);
  MouseDevice other{{0, 0, 0}, {0, 0, -0.1}};  // represents a gamepad
  hands_.devices().hands.push_back(&other);
  for (const bool fulcrum : {false, true}) {
    settings_.fulcrum = fulcrum;
    hands_.tell({}, settings_);
    EXPECT_EQ(other.fulcrum(), fulcrum);
  }
}

TEST_F(HandsOnTheTable, PedalAndJawsBelongToTheSelectedInstrument) {
  WindowInput input;
  input.left_button = true;
  input.held[static_cast<std::size_t>(Key::E)] = true;
  hands_.move(input, {}, 0.016, settings_);
  EXPECT_EQ(first_.pose({}).energy, Diathermy::Cut);
  EXPECT_DOUBLE_EQ(first_.pose({1, 1.0}).grip, 0.0);
  EXPECT_EQ(third_.pose({}).energy, Diathermy::Off);
  EXPECT_DOUBLE_EQ(third_.pose({}).grip, 1.0);
  hands_.rest();
  EXPECT_EQ(first_.pose({}).energy, Diathermy::Off);
}

// Presses go to the instrument that was selected when they began; the ratchet keeps its jaws closed.
TEST_F(HandsOnTheTable, ClickHoldAndTab) {
  double time = 0.0;
  const auto run = [&](bool down, double seconds, bool went_down = false) {
    WindowInput input;
    input.left_button = down;
    input.left_pressed = went_down;
    for (double end = time + seconds; time < end; time += 0.01) {
      hands_.move(input, {}, 0.01, settings_);
      input.left_pressed = false;
      first_.pose({0, time}), third_.pose({0, time});
    }
  };
  const auto grip = [&](MouseDevice& mouse) { return mouse.pose({0, time}).grip; };
  const auto force = [&](MouseDevice& mouse) { return mouse.pose({0, time}).grip_force; };
  run(false, 0.1);
  run(true, 0.1);
  run(false, 0.3);
  EXPECT_EQ(grip(first_), 0.0);
  EXPECT_LT(force(first_), 0.5);
  run(true, 0.1);
  hands_.take_next();
  run(true, 0.4);
  EXPECT_EQ(force(first_), 1.0) << "the press stays with the first instrument";
  EXPECT_EQ(grip(third_), 1.0);
  run(false, 0.1);
  EXPECT_EQ(grip(first_), 0.0);
  run(false, 0.3, true);
  EXPECT_EQ(grip(third_), 0.0) << "a click between two polls";
  run(false, 0.3, true);
  EXPECT_EQ(grip(third_), 1.0);
  run(true, 0.1);
  hands_.rest();
  run(true, 1.0);
  run(false, 0.1);
  EXPECT_EQ(grip(third_), 0.0) << "a pause during a press is no click";
  EXPECT_LT(force(third_), 0.5);
}

}  // namespace
}  // namespace trocar
