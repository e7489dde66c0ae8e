// Tests the window's input: mouse and keyboard as an input device, the queue between two pictures, keyboards of several
// countries, gamepads, and the devices of a scene without a session. Listing gamepads needs a display: CTest runs it as
// app.gamepads.
#define GLFW_INCLUDE_NONE  // other tests of this program load OpenGL
#include <GLFW/glfw3.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/uinput.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "app/window/input/device_watch.hpp"
#include "app/window/input/hands.hpp"
#include "app/window/input/keys.hpp"
#include "app/window/input/two_hands.hpp"
#include "app/window/window.hpp"
#include "geometry/error.hpp"
#include "sim/link/evdev_mouse.hpp"
#include "sim/link/igtl_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

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
  GamepadDevice pad{{{0, 0, 0}, {0, 0, -0.1}, glm::dvec3(0.0), {}, 0.0}, [] { return GamepadState(); }};
  hands_.devices().rates.push_back(&pad);
  for (const bool fulcrum : {false, true}) {
    settings_.fulcrum = fulcrum;
    hands_.move({}, {}, 0.016, settings_);
    EXPECT_EQ(pad.fulcrum(), fulcrum);
    EXPECT_EQ(first_.fulcrum(), fulcrum);
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
    input.left_button = down, input.left_pressed = went_down;
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

WindowInput with_keys(std::initializer_list<Key> keys) {
  WindowInput input;
  for (const Key key : keys) input.held[static_cast<std::size_t>(key)] = true;
  return input;
}

// Moves both hands for this many seconds.
void move_hands(MouseHands& hands, const HandInput& main, const HandInput& other, double seconds) {
  for (double time = 0.0; time < seconds - 1e-9; time += 0.01) hands.move(main, other, {}, 0.01, {});
}

TEST_F(HandsOnTheTable, WithoutAnOtherHandItsInputMovesNothing) {
  HandInput other{.motion = {50, 0}};
  hands_.MouseHands::move({}, other, {}, 0.016, settings_);
  EXPECT_DOUBLE_EQ(tip(first_).x, -0.1);
  EXPECT_DOUBLE_EQ(tip(third_).x, 0.1);
}

TEST_F(HandsOnTheTable, BothHandsMoveAtOnce) {
  hands_.use_other_hand(true);
  EXPECT_EQ(hands_.in_hand(HandSide::Other), 2u);
  settings_.fulcrum = false;
  hands_.MouseHands::move({.motion = {50, 0}}, {.motion = {0, 50}, .jaws_down = true}, {}, 0.016, settings_);
  EXPECT_GT(tip(first_).x, -0.1);
  EXPECT_GT(tip(third_).y, 0.0);
  EXPECT_DOUBLE_EQ(first_.pose({frame_, 10.0}).grip, 1.0);
  EXPECT_DOUBLE_EQ(third_.pose({frame_, 10.0}).grip, 0.0);
  hands_.use_other_hand(false);
  EXPECT_GT(hands_.in_hand(HandSide::Other), 3u);
  hands_.use_other_hand(true);
  EXPECT_DOUBLE_EQ(third_.pose({frame_, 11.0}).grip, 0.0) << "what no hand holds keeps its grip";
}

TEST_F(HandsOnTheTable, HandsExchangeWhatTheyHold) {
  hands_.use_other_hand(true);
  hands_.take(2);
  EXPECT_EQ(hands_.in_hand(), 2u);
  EXPECT_EQ(hands_.in_hand(HandSide::Other), 0u);
  hands_.take(3, HandSide::Other);
  EXPECT_EQ(hands_.in_hand(HandSide::Other), 3u) << "the other hand may hold the scope";
  hands_.take(3);
  EXPECT_TRUE(hands_.scope_in_hand());
  EXPECT_EQ(hands_.in_hand(HandSide::Other), 2u);
  hands_.take(1, HandSide::Other);
  EXPECT_EQ(hands_.in_hand(HandSide::Other), 2u) << "another device moves it";
}

// A stick or a key at its stop moves the tip as fast as HandRates says, at any number of pictures a second.
TEST_F(HandsOnTheTable, SticksAndKeysMoveAtTheirRates) {
  const HandRates rates;
  for (const double elapsed : {0.004, 0.02, 0.1}) {
    const double before = third_.joints().pan_deg, roll = third_.joints().spin_deg, depth = third_.joints().depth;
    hands_.use_other_hand(true);
    for (int k = 0; k < static_cast<int>(std::lround(0.4 / elapsed)); ++k)
      hands_.MouseHands::move({}, {.swing = {1, 0}, .roll = -1.0, .insert = 1.0}, {}, elapsed, settings_);
    // The right of the picture is fixed, so the angle grows a little less than the handle moves.
    EXPECT_NEAR(std::abs(third_.joints().pan_deg - before), 0.4 * rates.swing_deg, 0.7) << elapsed;
    EXPECT_NEAR(third_.joints().spin_deg - roll, -0.4 * rates.roll_deg, 1e-6);
    EXPECT_NEAR(third_.joints().depth - depth, 0.4 * rates.insert, 1e-9);
    for (int k = 0; k < static_cast<int>(std::lround(0.4 / elapsed)); ++k)
      hands_.MouseHands::move({}, {.swing = {-1, 0}, .insert = -1.0}, {}, elapsed, settings_);
  }
}

TEST_F(HandsOnTheTable, AShortPressOfAKeySwingsLittle) {
  const double start = first_.joints().pan_deg;
  HandInput key{.swing = {1, 0}, .slow_start = true};
  move_hands(hands_, key, {}, 0.05);
  const double shortly = std::abs(first_.joints().pan_deg - start);
  EXPECT_LT(shortly, 1.0);
  EXPECT_GT(shortly, 0.1);
  move_hands(hands_, {}, {}, 0.05);
  const double before = first_.joints().pan_deg;
  move_hands(hands_, key, {}, 1.0);
  EXPECT_GT(std::abs(first_.joints().pan_deg - before), 25.0);
}

TEST_F(HandsOnTheTable, ThePedalWorksTheInstrumentThatHasOne) {
  Hands hands;
  hands.add(&first_);
  hands.add(&third_, {.pedal = true});
  hands.set_scope(nullptr);
  hands.use_other_hand(true);
  hands.MouseHands::move({.cut = true}, {}, {}, 0.016, settings_);
  EXPECT_EQ(first_.pose({}).energy, Diathermy::Off);
  EXPECT_EQ(third_.pose({}).energy, Diathermy::Cut);
  hands.use_other_hand(false);
  hands.MouseHands::move({.cut = true}, {}, {}, 0.016, settings_);
  EXPECT_EQ(third_.pose({}).energy, Diathermy::Off) << "no hand holds it";
}

// An instrument can be used by keys alone: three directions, roll, jaws, pedal.
TEST_F(HandsOnTheTable, KeysAloneDoEverything) {
  settings_.fulcrum = false;
  hands_.choose(HandsBy::Keys, CameraBy::Trainee, "");
  const auto hold = [&](std::initializer_list<Key> keys, double seconds) {
    WindowInput input = with_keys(keys);
    input.pressed = keys;
    for (double time = 0.0; time < seconds - 1e-9; time += 0.01) {
      hands_.move(input, {}, 0.01, settings_);
      input.pressed.clear();
    }
    hands_.move({}, {}, 0.01, settings_);
  };
  hold({Key::Right}, 0.5);
  EXPECT_GT(tip(first_).x, -0.1);
  hold({Key::Up}, 0.5);
  EXPECT_GT(tip(first_).y, 0.0);
  const double depth = first_.joints().depth;
  hold({Key::PageDown}, 0.5);
  EXPECT_NEAR(first_.joints().depth, depth + 0.02, 1e-6);
  hold({Key::PageUp}, 0.25);
  EXPECT_NEAR(first_.joints().depth, depth + 0.01, 1e-6);
  hold({Key::Home}, 0.1);
  EXPECT_LT(first_.joints().spin_deg, 0.0);
  hold({Key::W}, 0.2);
  EXPECT_GT(first_.joints().spin_deg, 0.0);
  hold({Key::Insert}, 0.05);
  tip(first_);
  EXPECT_EQ(first_.pose({frame_, static_cast<double>(frame_) / 60.0}).grip, 0.0);
  hands_.move(with_keys({Key::R}), {}, 0.01, settings_);
  EXPECT_EQ(first_.pose({frame_, static_cast<double>(frame_) / 60.0}).energy, Diathermy::Coagulate);
  WindowInput mouse = motion(100, 100);
  mouse.wheel = 3.0;
  const Joints before = first_.joints();
  hands_.move(mouse, {}, 0.01, settings_);
  EXPECT_EQ(first_.joints().pan_deg, before.pan_deg) << "the mouse is not read";
  EXPECT_EQ(first_.joints().depth, before.depth);
}

TEST(HandsInput, NoInputIsNoMotion) {
  for (std::size_t by = 0; by < kHandsBy; ++by)
    for (std::size_t camera = 0; camera < kCameraBy; ++camera) {
      const HandsInput hands = hands_input(static_cast<HandsBy>(by), static_cast<CameraBy>(camera), {}, {});
      for (const HandInput& hand : {hands.main, hands.other, hands.scope}) {
        EXPECT_EQ(hand.motion, glm::dvec2(0.0));
        EXPECT_EQ(hand.swing, glm::dvec2(0.0));
        EXPECT_EQ(std::abs(hand.wheel) + std::abs(hand.roll) + std::abs(hand.insert), 0.0);
        EXPECT_FALSE(hand.jaws_down || hand.jaws_pressed || hand.cut || hand.coagulate || hand.scope);
      }
    }
}

TEST(HandsInput, MouseAndKeysMoveOneHandEach) {
  WindowInput input = with_keys({Key::Left, Key::PageUp, Key::E, Key::Q});
  input.pointer_motion = {7, 3}, input.wheel = 2.0, input.left_button = true;
  const HandsInput hands = hands_input(HandsBy::MouseAndKeys, CameraBy::Trainee, input, {});
  EXPECT_EQ(hands.main.motion, glm::dvec2(7, 3));
  EXPECT_EQ(hands.main.roll, -1.0);
  EXPECT_EQ(hands.main.insert, 0.0);
  EXPECT_TRUE(hands.main.jaws_down && hands.main.cut);
  EXPECT_EQ(hands.other.swing, glm::dvec2(-1, 0));
  EXPECT_EQ(hands.other.insert, -1.0);
  EXPECT_FALSE(hands.other.jaws_down);
}

// GLFW's y axis points down; a trigger rests at -1.
TEST(HandsInput, EachStickMovesItsHand) {
  HandDevices devices;
  devices.pad.connected = devices.pad_before.connected = true;
  devices.pad.axes = {0.f, -1.f, 1.f, 0.f, 1.f, -1.f};
  HandsInput hands = hands_input(HandsBy::TwoSticks, CameraBy::Trainee, {}, devices);
  EXPECT_NEAR(hands.other.swing.y, 1.0, 1e-12);
  EXPECT_NEAR(hands.main.swing.x, 1.0, 1e-12);
  EXPECT_TRUE(hands.other.jaws_down && hands.other.jaws_pressed);
  EXPECT_FALSE(hands.main.jaws_down);
  devices.pad_before = devices.pad;
  devices.pad.buttons[4] = true;                           // LB
  devices.pad.buttons[0] = devices.pad.buttons[2] = true;  // A, X
  hands = hands_input(HandsBy::TwoSticks, CameraBy::Trainee, {}, devices);
  EXPECT_EQ(hands.other.swing, glm::dvec2(0.0));
  EXPECT_NEAR(hands.other.insert, 1.0, 1e-12);
  EXPECT_FALSE(hands.other.jaws_pressed) << "it is still down";
  EXPECT_TRUE(hands.main.cut && hands.other_next && !hands.main_next);
  devices.pad.axes = {0.1f, 0.1f, 0.1f, -0.1f, -1.f, -1.f};
  hands = hands_input(HandsBy::TwoSticks, CameraBy::Trainee, {}, devices);
  EXPECT_EQ(hands.main.swing, glm::dvec2(0.0)) << "a worn stick rests off centre";
  devices.pad.buttons[12] = true;  // right, of the cross
  hands = hands_input(HandsBy::TwoSticks, CameraBy::Trainee, {}, devices);
  EXPECT_EQ(hands.scope.swing, glm::dvec2(1, 0));
}

TEST(HandsInput, ASecondPersonHoldsTheScope) {
  HandDevices devices;
  devices.second_mouse = {.connected = true, .right = 5, .up = -2, .wheel = 1};
  HandsInput hands = hands_input(HandsBy::Mouse, CameraBy::SecondMouse, {}, devices);
  EXPECT_EQ(hands.scope.motion, glm::dvec2(5, -2));
  EXPECT_EQ(hands.scope.wheel, 1.0);
  EXPECT_EQ(hands.main.motion, glm::dvec2(0.0));
  devices.pad.connected = true;
  devices.pad.axes[0] = -1.f;
  hands = hands_input(HandsBy::TwoMice, CameraBy::Gamepad, {}, devices);
  EXPECT_NEAR(hands.scope.swing.x, -1.0, 1e-12);
  EXPECT_EQ(hands.other.motion, glm::dvec2(5, -2));
  EXPECT_FALSE(hands_fault(HandsBy::TwoMice, CameraBy::SecondMouse).empty());
  EXPECT_EQ(hands_input(HandsBy::TwoMice, CameraBy::SecondMouse, {}, devices).scope.motion, glm::dvec2(0.0));
}

TEST_F(HandsOnTheTable, AMissingDeviceIsOneSentence) {
  hands_.set_hardware([] { return GamepadState(); },
                      [](const std::string&) -> std::unique_ptr<EvdevMouse> { throw InputError("no mouse; buy one"); });
  hands_.choose(HandsBy::TwoMice, CameraBy::Trainee, "");
  hands_.move({}, {}, 0.016, settings_);
  EXPECT_EQ(hands_.fault(), "No mouse; buy one");
  hands_.choose(HandsBy::TwoSticks, CameraBy::Trainee, "");
  hands_.move({}, {}, 0.016, settings_);
  EXPECT_NE(hands_.fault().find("gamepad"), std::string::npos);
  hands_.choose(HandsBy::Mouse, CameraBy::Trainee, "");
  hands_.move({}, {}, 0.016, settings_);
  EXPECT_EQ(hands_.fault(), "");
}

// Two instruments of one port, and one beside them.
class OnePort : public HandsOnTheTable {
 protected:
  OnePort() {
    ports_.add(&first_, {.port = "a"});
    ports_.add(&beside_);
    ports_.add(&third_, {.port = "a"});
    ports_.set_scope(nullptr);
  }
  // Runs a second of pictures; returns the greatest distance of a tip from its trocar while it lasts.
  double run(double seconds) {
    double deepest_both = 0.0;
    for (const double end = time_ + seconds; time_ < end - 1e-9; time_ += 0.01) {
      ports_.move({}, {}, 0.01, settings_);
      const double a = depth(first_), b = depth(third_);
      beside_.pose({0, time_});
      deepest_both = std::max(deepest_both, std::min(a, b));
    }
    return deepest_both;
  }
  double depth(MouseDevice& mouse) {
    const DevicePose pose = mouse.pose({0, time_});
    return glm::length(pose.tip - pose.pivot);
  }

  MouseDevice beside_{{0, 0, 0}, {0, 0.05, -0.1}};
  MouseHands ports_;
  double time_ = 0.0;
};

TEST_F(OnePort, AtTheStartOnlyTheOneInHandIsInTheBody) {
  run(0.02);
  EXPECT_NEAR(depth(first_), 0.1, 1e-9);
  EXPECT_NEAR(depth(third_), third_.limits().shallowest, 1e-9);
  EXPECT_TRUE(ports_.is_out(2));
  EXPECT_FALSE(ports_.is_out(1)) << "it has a port of its own";
}

TEST_F(OnePort, AnExchangeTakesASecondAndTheyNeverMeet) {
  run(0.1);
  ports_.take(2);
  const double shallowest = first_.limits().shallowest;
  EXPECT_LT(run(0.95), shallowest + 1e-6) << "one is in its trocar while the other is in the body";
  EXPECT_TRUE(ports_.is_out(0));
  EXPECT_NEAR(depth(third_), 0.1, 1e-3) << "its place of the scene";
  ports_.take(1);
  run(0.5);
  EXPECT_FALSE(ports_.is_out(2)) << "the hand that takes another port's instrument leaves it where it is";
  ports_.take(0);
  run(1.0);
  EXPECT_TRUE(ports_.is_out(2));
  EXPECT_NEAR(depth(first_), 0.1 - ExchangeParams().less_deep, 1e-4);
}

TEST_F(OnePort, JawsOpenBeforeTheInstrumentLeaves) {
  run(0.1);
  ports_.move({.jaws_down = true}, {}, 0.01, settings_);
  run(1.0);
  EXPECT_EQ(first_.pose({0, time_}).grip, 0.0);
  ports_.take(2);
  run(0.1);
  EXPECT_NEAR(depth(first_), 0.1 - ExchangeParams().less_deep, 1e-3) << "it draws back, and still opens";
  run(1.1);
  EXPECT_EQ(first_.pose({0, time_}).grip, 1.0);
  EXPECT_TRUE(ports_.is_out(0));
}

TEST_F(OnePort, BothHandsDoNotShareAPort) {
  EXPECT_EQ(ports_.side_for(2), HandSide::Main);
  ports_.use_other_hand(true);
  EXPECT_EQ(ports_.side_for(1), HandSide::Other) << "it holds it";
  EXPECT_EQ(ports_.side_for(2), HandSide::Main) << "the main hand has its port";
  EXPECT_EQ(ports_.in_hand(HandSide::Other), 1u);
  ports_.take(2, HandSide::Other);
  EXPECT_EQ(ports_.in_hand(HandSide::Other), 2u);
  EXPECT_EQ(ports_.in_hand(), 1u);
  ports_.take(0);
  EXPECT_EQ(ports_.in_hand(), 0u);
  EXPECT_EQ(ports_.in_hand(HandSide::Other), 1u);
}

TEST_F(OnePort, AChangeOfMindHalfwayComesBack) {
  run(0.1);
  ports_.take(2);
  run(0.2);
  ports_.take(0);
  EXPECT_LT(run(0.6), 0.02);
  EXPECT_FALSE(ports_.is_out(0));
  EXPECT_TRUE(ports_.is_out(2));
}

// Mice of the kernel: structures as it writes them, through a pipe.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() { close_writer(); }
  int reader() const { return ends_[0]; }
  void write_bytes(const void* bytes, std::size_t count) const {
    EXPECT_EQ(write(ends_[1], bytes, count), static_cast<ssize_t>(count));
  }
  void send(int type, int code, int value) const {
    input_event event{};
    event.type = static_cast<__u16>(type), event.code = static_cast<__u16>(code), event.value = value;
    write_bytes(&event, sizeof event);
  }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(EvdevMouse, NothingIsNothing) {
  Pipe pipe;
  EvdevMouse mouse = EvdevMouse::from_descriptor(pipe.reader());
  const MouseCounts counts = mouse.read();
  EXPECT_TRUE(counts.connected);
  EXPECT_EQ(counts.right + counts.up + counts.wheel, 0.0);
  pipe.close_writer();
  EXPECT_FALSE(mouse.read().connected);
  EXPECT_FALSE(mouse.read().connected);
}

TEST(EvdevMouse, AddsTheReportsSinceTheLastReading) {
  Pipe pipe;
  EvdevMouse mouse = EvdevMouse::from_descriptor(pipe.reader());
  for (int k = 0; k < 3; ++k) {
    pipe.send(EV_REL, REL_X, 4);
    pipe.send(EV_REL, REL_Y, -2);
    pipe.send(EV_SYN, SYN_REPORT, 0);
  }
  pipe.send(EV_KEY, BTN_LEFT, 1);
  pipe.send(EV_REL, REL_WHEEL, 1);
  pipe.send(EV_SYN, SYN_REPORT, 0);
  pipe.send(EV_REL, REL_X, 100);  // of a report that is not complete
  MouseCounts counts = mouse.read();
  EXPECT_EQ(counts.right, 12.0);
  EXPECT_EQ(counts.up, 6.0);
  EXPECT_EQ(counts.wheel, 1.0);
  EXPECT_TRUE(counts.buttons[0] && counts.pressed[0]);
  pipe.send(EV_SYN, SYN_REPORT, 0);
  counts = mouse.read();
  EXPECT_EQ(counts.right, 100.0);
  EXPECT_TRUE(counts.buttons[0]);
  EXPECT_FALSE(counts.pressed[0]);
  pipe.send(EV_KEY, BTN_LEFT, 0), pipe.send(EV_SYN, SYN_REPORT, 0);
  pipe.send(EV_KEY, BTN_RIGHT, 1), pipe.send(EV_SYN, SYN_REPORT, 0);
  pipe.send(EV_KEY, BTN_RIGHT, 0), pipe.send(EV_SYN, SYN_REPORT, 0);
  counts = mouse.read();
  EXPECT_FALSE(counts.buttons[0] || counts.buttons[1]);
  EXPECT_TRUE(counts.pressed[1]) << "a click between two readings counts";
}

TEST(EvdevMouse, AnOverflowVoidsItsReportAndReleasesTheButtons) {
  Pipe pipe;
  EvdevMouse mouse = EvdevMouse::from_descriptor(pipe.reader());
  pipe.send(EV_KEY, BTN_LEFT, 1), pipe.send(EV_SYN, SYN_REPORT, 0);
  pipe.send(EV_REL, REL_X, 5), pipe.send(EV_SYN, SYN_DROPPED, 0);
  pipe.send(EV_REL, REL_X, 7), pipe.send(EV_SYN, SYN_REPORT, 0);
  pipe.send(EV_REL, REL_X, 1), pipe.send(EV_SYN, SYN_REPORT, 0);
  const MouseCounts counts = mouse.read();
  EXPECT_EQ(counts.right, 1.0);
  EXPECT_FALSE(counts.buttons[0]);
}

TEST(EvdevMouse, AnEventInTwoPiecesIsOne) {
  Pipe pipe;
  EvdevMouse mouse = EvdevMouse::from_descriptor(pipe.reader());
  input_event event{};
  event.type = EV_REL, event.code = REL_X, event.value = 9;
  const char* bytes = reinterpret_cast<const char*>(&event);
  pipe.write_bytes(bytes, 5);
  EXPECT_EQ(mouse.read().right, 0.0);
  pipe.write_bytes(bytes + 5, sizeof event - 5);
  pipe.send(EV_SYN, SYN_REPORT, 0);
  EXPECT_EQ(mouse.read().right, 9.0);
}

// Folders as sysfs has them: a mouse, a keyboard, a touch screen.
TEST(EvdevMouse, ListsMiceFromSysfs) {
  const TemporaryFolder folder;
  EXPECT_TRUE(list_mice(folder.path()).empty());
  EXPECT_TRUE(list_mice(folder.path() / "absent").empty());
  const auto add = [&](const std::string& event, const std::string& name, const std::string& rel,
                       const std::string& key) {
    const auto device = folder.path() / event / "device";
    std::filesystem::create_directories(device / "capabilities");
    std::ofstream(device / "name") << name << '\n';
    std::ofstream(device / "capabilities/rel") << rel << '\n';
    std::ofstream(device / "capabilities/key") << key << '\n';
  };
  add("event12", "Second Mouse", "1943", "1f0000 0 0 0 0");
  add("event3", "First Mouse", "3", "70000 0 0 0 0");
  add("event4", "Keyboard", "0", "10000 fffffffffffffffe");
  add("event5", "Wheel only", "100", "70000 0 0 0 0");
  add("mouse0", "not an event device", "3", "70000 0 0 0 0");
  const auto mice = list_mice(folder.path());
  ASSERT_EQ(mice.size(), 2u);
  EXPECT_EQ(mice[0].number, 3);
  EXPECT_EQ(mice[1].name, "Second Mouse");
  EXPECT_EQ(find_mouse(mice, ""), 12);
  EXPECT_EQ(find_mouse(mice, "First"), 3);
  EXPECT_EQ(find_mouse(mice, "12"), 12);
  EXPECT_THROW(find_mouse(mice, "Third"), InputError);
  EXPECT_THROW(find_mouse({}, ""), InputError);
  EXPECT_THROW(find_mouse({mice[0]}, ""), InputError) << "the only mouse is the pointer's";
  EXPECT_THROW(EvdevMouse(7, folder.path()), InputError);
  std::ofstream(folder.path() / "event7") << "not a device";
  EXPECT_THROW(EvdevMouse(7, folder.path()), InputError) << "a file cannot be grabbed";
}

// A mouse that the kernel makes for this test; only where the machine has uinput and lets this user have it.
TEST(EvdevMouse, ReadsAMouseOfUinput) {
  const int made = open("/dev/uinput", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (made < 0) GTEST_SKIP() << "no /dev/uinput that this user may write";
  for (const int bit : {EV_REL, EV_KEY}) ioctl(made, UI_SET_EVBIT, bit);
  for (const int bit : {REL_X, REL_Y, REL_WHEEL}) ioctl(made, UI_SET_RELBIT, bit);
  for (const int bit : {BTN_LEFT, BTN_RIGHT, BTN_MIDDLE}) ioctl(made, UI_SET_KEYBIT, bit);
  uinput_setup setup{};
  std::snprintf(setup.name, sizeof setup.name, "Trocar test mouse %d", getpid());
  ASSERT_EQ(ioctl(made, UI_DEV_SETUP, &setup), 0);
  ASSERT_EQ(ioctl(made, UI_DEV_CREATE), 0);
  std::vector<ListedMouse> mice;
  const auto is_made = [&](const ListedMouse& one) { return one.name == setup.name; };
  for (int k = 0; k < 100 && std::ranges::none_of(mice, is_made); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    mice = list_mice();
  }
  ASSERT_TRUE(std::ranges::any_of(mice, is_made));
  {
    EvdevMouse mouse(find_mouse(mice, setup.name));
    const auto send = [&](int type, int code, int value) {
      input_event event{};
      event.type = static_cast<__u16>(type), event.code = static_cast<__u16>(code), event.value = value;
      ASSERT_EQ(write(made, &event, sizeof event), static_cast<ssize_t>(sizeof event));
    };
    send(EV_REL, REL_X, 6), send(EV_KEY, BTN_LEFT, 1), send(EV_SYN, SYN_REPORT, 0);
    MouseCounts counts;
    for (int k = 0; k < 100 && counts.right == 0.0; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      counts = mouse.read();
    }
    EXPECT_EQ(counts.right, 6.0);
    EXPECT_TRUE(counts.buttons[0]);
    EXPECT_THROW(EvdevMouse(find_mouse(mice, setup.name)), InputError) << "it is grabbed";
  }
  ioctl(made, UI_DEV_DESTROY);
  close(made);
}

// Two instruments above the table; each follows its own tool of one stream. With one tool for both they take turns.
class TrackedHands : public ::testing::Test {
 protected:
  TrackedHands() : server_(IgtlServerParams{.port = 0}) {}

  std::unique_ptr<Device> device(const std::string& name, double x, const std::string& tool) {
    InstrumentScene scene;
    scene.name = name, scene.device = "igtl";
    scene.source = fmt::format("localhost:{}/{}", server_.port(), tool);
    scene.pivot = {x, 0.0, 0.2}, scene.tip = {x, 0.0, 0.1};
    return make_window_device(scene, hands_);
  }
  static glm::dmat4 tool_at(double x, double depth) {
    glm::dmat4 matrix(1.0);
    matrix[1] = {0, -1, 0, 0}, matrix[2] = {0, 0, -1, 0};
    matrix[3] = {x, 0.0, 0.2 - depth, 1.0};
    return matrix;
  }
  // Publishes these depths until the device has the depth, or for two seconds. m
  double depth_of(Device& device, const std::vector<PublishedTool>& tools, double wanted) {
    double depth = 0.0;
    for (int k = 0; k < 200; ++k) {
      server_.publish(tools);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const DevicePose pose = device.pose({static_cast<std::uint64_t>(k), 0.01 * k});
      depth = glm::length(pose.tip - pose.pivot);
      if (device.health() == DeviceHealth::Good && std::abs(depth - wanted) < 1e-6) break;
    }
    return depth;
  }

  IgtlServer server_;
  Hands hands_;
};

TEST_F(TrackedHands, TwoToolsOfOneStreamAreTwoHands) {
  const auto left = device("left", -0.1, "Left"), right = device("right", 0.1, "Right");
  const std::vector<PublishedTool> tools{{"Left", tool_at(-0.1, 0.12)}, {"Right", tool_at(0.1, 0.15)}};
  EXPECT_NEAR(depth_of(*left, tools, 0.12), 0.12, 1e-6);
  EXPECT_NEAR(depth_of(*right, tools, 0.15), 0.15, 1e-6);
  EXPECT_FALSE(hands_.is_parked(0) || hands_.is_parked(1));
}

TEST_F(TrackedHands, OneToolMovesTheChosenInstrumentAndTheOtherIsParked) {
  const auto first = device("first", 0.0, "Probe"), second = device("second", 0.0, "Probe");
  const std::vector<PublishedTool> tools{{"Probe", tool_at(0.0, 0.12)}};
  EXPECT_FALSE(hands_.is_parked(0));
  EXPECT_TRUE(hands_.is_parked(1));
  EXPECT_NEAR(depth_of(*first, tools, 0.12), 0.12, 1e-6);
  second->pose({0, 0.0});
  EXPECT_NE(second->health(), DeviceHealth::Good) << "the instrument stays where it is";
  hands_.take(1);
  EXPECT_TRUE(hands_.is_parked(0));
  EXPECT_FALSE(hands_.is_parked(1));
  EXPECT_NEAR(depth_of(*second, tools, 0.12), 0.12, 1e-6);
  const std::vector<PublishedTool> deeper{{"Probe", tool_at(0.0, 0.16)}};
  EXPECT_NEAR(depth_of(*second, deeper, 0.16), 0.16, 1e-6);
  const DevicePose parked = first->pose({0, 0.0});
  EXPECT_NEAR(glm::length(parked.tip - parked.pivot), 0.12, 1e-6);
  EXPECT_NE(first->health(), DeviceHealth::Good);
}

using Kind = InputEvent::Kind;

InputEvent key(int code, bool down) { return {.kind = Kind::Key, .code = code, .down = down}; }
InputEvent button(bool down, glm::dvec2 at) { return {.kind = Kind::Button, .down = down, .pointer = at}; }
InputEvent motion(double x) { return {.kind = Kind::Motion, .pointer = {x, 0.0}}; }
InputEvent text(char32_t letter) { return {.kind = Kind::Text, .letter = letter}; }

std::vector<std::size_t> pictures_of(InputQueue& queue) {
  std::vector<std::size_t> sizes;
  while (!queue.empty()) sizes.push_back(queue.next_picture().size());
  return sizes;
}

TEST(InputQueue, WithoutEventsThePictureIsEmpty) {
  InputQueue queue;
  EXPECT_TRUE(queue.next_picture().empty());
  queue.forget_motion();
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, AShortClickCountsWhereTheButtonWentDown) {
  InputQueue queue;
  queue.add(motion(10));
  queue.add(button(true, {10, 0}));
  queue.add(button(false, {10, 0}));
  queue.add(motion(500));
  auto picture = queue.next_picture();
  ASSERT_EQ(picture.size(), 1u) << "the panels first learn where the pointer is";
  EXPECT_EQ(picture[0].pointer.x, 10.0);
  for (const bool down : {true, false}) {
    picture = queue.next_picture();
    ASSERT_EQ(picture.size(), 1u);
    EXPECT_EQ(picture[0].down, down);
    EXPECT_EQ(picture[0].pointer.x, 10.0);
  }
  picture = queue.next_picture();
  ASSERT_EQ(picture.size(), 1u);
  EXPECT_EQ(picture[0].pointer.x, 500.0);
}

TEST(InputQueue, TwoShortPressesAreTwo) {
  InputQueue queue;
  for (int k = 0; k < 2; ++k) queue.add(key(GLFW_KEY_DOWN, true)), queue.add(key(GLFW_KEY_DOWN, false));
  EXPECT_EQ(pictures_of(queue), (std::vector<std::size_t>{1, 1, 1, 1}));
}

TEST(InputQueue, AModifierBelongsToTheKeysAfterIt) {
  InputQueue queue;
  queue.add(key(GLFW_KEY_Z, true));
  queue.add(key(GLFW_KEY_LEFT_CONTROL, true));
  queue.add(key(GLFW_KEY_S, true));
  EXPECT_EQ(pictures_of(queue), (std::vector<std::size_t>{1, 2}));
}

TEST(InputQueue, TextKeepsItsOrderWithTheKeysThatEditIt) {
  InputQueue queue;
  queue.add(key(GLFW_KEY_A, true)), queue.add(text('a'));
  queue.add(key(GLFW_KEY_B, true)), queue.add(text('b'));
  queue.add(key(GLFW_KEY_BACKSPACE, true));
  queue.add(text('c'));
  EXPECT_EQ(pictures_of(queue), (std::vector<std::size_t>{4, 1, 1}));
}

// Random input, with pictures between: everything comes out, in its order, and no key changes twice in a picture.
TEST(InputQueue, NothingIsLostOrReordered) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    InputQueue queue;
    std::vector<int> sent, got;
    int number = 0;
    const auto take = [&] {
      std::map<std::pair<Kind, int>, int> changes;
      for (const InputEvent& event : queue.next_picture()) {
        got.push_back(event.position);
        if (event.kind == Kind::Key || event.kind == Kind::Button) {
          EXPECT_EQ(++changes[std::pair(event.kind, event.code)], 1);
        }
      }
    };
    for (int k = 0; k < 60; ++k) {
      const int codes[] = {GLFW_KEY_A, GLFW_KEY_ENTER, GLFW_KEY_LEFT_SHIFT};
      InputEvent event;
      event.kind = std::array{Kind::Wheel, Kind::Button, Kind::Key, Kind::Key, Kind::Text}[random() % 5];
      event.code = event.kind == Kind::Key ? codes[random() % 3] : static_cast<int>(random() % 2);
      event.down = random() % 2 == 0, event.position = ++number;
      sent.push_back(number);
      queue.add(event);
      if (random() % 4 == 0) take();
    }
    for (int k = 0; k < 200 && !queue.empty(); ++k) take();
    EXPECT_EQ(got, sent);
  }
}

// `rows`: what the layout has where a US keyboard has the rows qwertyuiop, asdfghjkl; and zxcvbnm,./
KeyLayout layout_of(const std::vector<std::string>& upper, const std::vector<std::string>& middle,
                    const std::vector<std::string>& lower) {
  std::map<int, std::string> labels;
  const auto add = [&](std::string_view positions, const std::vector<std::string>& row) {
    for (std::size_t k = 0; k < row.size(); ++k) labels[positions[k]] = row[k];
  };
  add("QWERTYUIOP", upper);
  add("ASDFGHJKL;", middle);
  add("ZXCVBNM,./", lower);
  return KeyLayout([&](int position) { return labels[position]; });
}

std::vector<std::string> letters(const std::string& row) {
  std::vector<std::string> list;
  for (const char letter : row) list.emplace_back(1, letter);
  return list;
}

KeyLayout azerty() { return layout_of(letters("azertyuiop"), letters("qsdfghjklm"), letters("wxcvbn,;:!")); }
KeyLayout qwertz() { return layout_of(letters("qwertzuiop"), letters("asdfghjkl"), letters("yxcvbnm,.-")); }
KeyLayout dvorak() { return layout_of(letters("',.pyfgcrl"), letters("aoeuidhtns"), letters(";qjkxbmwvz")); }
KeyLayout russian() {
  return layout_of({"й", "ц", "у", "к", "е", "н", "г", "ш", "щ", "з"},
                   {"ф", "ы", "в", "а", "п", "р", "о", "л", "д", "ж"},
                   {"я", "ч", "с", "м", "и", "т", "ь", "б", "ю", "."});
}
// F keyboard of Turkey: G lies at a movement key.
KeyLayout turkish_f() {
  return layout_of({"f", "g", "ğ", "ı", "o", "d", "r", "n", "h", "p"},
                   {"u", "i", "e", "a", "ü", "t", "k", "m", "l", "y"},
                   {"j", "ö", "v", "c", "ç", "z", "s", "b", ".", ","});
}

constexpr Key kAllLetters[] = {Key::C, Key::E, Key::G, Key::H, Key::L, Key::N, Key::O, Key::P, Key::Q,
                               Key::R, Key::S, Key::T, Key::V, Key::W, Key::X, Key::Y, Key::Z};

TEST(KeyLayout, WithoutLabelsPositionsCount) {
  const KeyLayout none([](int) { return std::string(); });
  for (const char letter : {'C', 'Q', 'Z'}) EXPECT_EQ(none.key_at(letter, false), us_layout().key_at(letter, false));
  EXPECT_EQ(none.key_at(-1, false), Key::Other);
  EXPECT_EQ(none.key_at(100000, true), Key::Other);
  EXPECT_EQ(none.position_by_label('Z'), 'Z');
}

TEST(KeyLayout, ShortcutsGoByTheirLabel) {
  EXPECT_EQ(azerty().key_at('W', true), Key::Z);
  EXPECT_EQ(azerty().key_at('Z', true), Key::W);
  EXPECT_EQ(qwertz().key_at('Y', true), Key::Z);
  EXPECT_EQ(qwertz().key_at('Z', true), Key::Y);
  EXPECT_EQ(dvorak().key_at('B', false), Key::X);
  EXPECT_EQ(dvorak().key_at(';', true), Key::S);
  EXPECT_EQ(russian().key_at('Z', true), Key::Z) << "no label is Latin: the position counts";
  EXPECT_EQ(azerty().position_by_label('W'), 'Z');
}

TEST(KeyLayout, MovementKeysArePositions) {
  for (const KeyLayout& layout : {azerty(), qwertz(), dvorak(), russian(), turkish_f()}) {
    EXPECT_EQ(layout.key_at('Q', false), Key::Q);
    EXPECT_EQ(layout.key_at('W', false), Key::W);
  }
}

// Each key is meant by exactly one position, so nothing is out of reach and no key does two things.
TEST(KeyLayout, EveryKeyIsSomewhereOnce) {
  for (const KeyLayout& layout : {us_layout(), azerty(), qwertz(), dvorak(), russian(), turkish_f()})
    for (const Key key : kAllLetters) {
      int plain = 0, control = 0;
      for (int position = 0; position < kMostPositions; ++position) {
        plain += layout.key_at(position, false) == key ? 1 : 0;
        control += layout.key_at(position, true) == key ? 1 : 0;
      }
      EXPECT_EQ(plain, 1) << layout.label_of(key, false);
      EXPECT_EQ(control, 1) << layout.label_of(key, true);
    }
}

TEST(KeyLayout, TextsHaveTheUsersLabels) {
  EXPECT_EQ(in_layout("Q  W, left  right", us_layout()), "Q  W, left  right");
  EXPECT_EQ(in_layout("Q  W, left  right", azerty()), "A  Z, left  right");
  EXPECT_EQ(in_layout("Ctrl Y, Ctrl Shift Z", qwertz()), "Ctrl Y, Ctrl Shift Z");
  EXPECT_EQ(in_layout("Ctrl Z, W", azerty()), "Ctrl Z, Z");
  EXPECT_EQ(in_layout("List of contacts (L)", russian()), "List of contacts (Д)");
  EXPECT_EQ(in_layout("suction: E removes fluid, R rinses", russian()), "suction: У removes fluid, К rinses");
  EXPECT_EQ(in_layout("F1, Tab", azerty()), "F1, Tab");
  EXPECT_EQ(turkish_f().label_of(Key::G, false), "Ü") << "its own position is a movement key";
}

// Listing gamepads ends GLFW only if it initialised GLFW itself: an open window stays open.
TEST(GamepadsOfThisMachine, ListingThemDoesNotCloseAWindow) {
  if (!glfwInit()) GTEST_SKIP() << "no display";
  EXPECT_TRUE(gamepads_of_this_machine());
  EXPECT_NE(glfwGetTimerFrequency(), 0u);
  glfwTerminate();
  gamepads_of_this_machine();
  EXPECT_EQ(glfwGetTimerFrequency(), 0u);
}

using namespace std::chrono_literals;

Scene one_probe() {
  Scene scene;
  scene.file = "scene.toml";
  InstrumentScene probe;
  probe.name = "probe", probe.pivot = {0, 0, 0.2}, probe.tip = {0, 0, 0.1};
  scene.instruments.push_back(probe);
  scene.scope.device = "script";
  return scene;
}

class DevicesOfAScene : public ::testing::Test {
 protected:
  // Watches the probe with this device.
  DeviceWatch& watch(const std::string& device, const std::string& source = {}, const std::string& file = {}) {
    auto choices = device_choices(scene_);
    choices[0].device = device, choices[0].source = source, choices[0].trajectory = file;
    choices[0].typed = !file.empty();
    watch_.reset();
    watch_ = std::make_unique<DeviceWatch>(
        scene_, choices, access_,
        DeviceHardware{[this](const std::string&) { return [this] { return pad_; }; }, [this] { return pads_; }});
    watch_->read(0.0);
    return *watch_;
  }
  const DeviceReading& reading() const { return watch_->readings()[0]; }
  // Reads until the condition holds, ten seconds at most.
  bool comes_true(const std::function<bool()>& what) {
    const auto start = std::chrono::steady_clock::now();
    for (double time = 0.0; time < 10.0 && !what();
         time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) {
      std::this_thread::sleep_for(2ms);
      watch_->read(time);
    }
    return what();
  }
  bool says(const std::string& part) const { return reading().fault.find(part) != std::string::npos; }

  Scene scene_ = one_probe();
  SceneAccess access_;
  GamepadState pad_;
  std::vector<std::string> pads_;
  std::unique_ptr<DeviceWatch> watch_;
};

TEST(DeviceSetup, ChoicesAreThoseOfTheSceneAndComeBack) {
  Scene scene = one_probe();
  auto choices = device_choices(scene);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[1].holds, "scope");
  choices[0].device = "trajectory", choices[0].trajectory = "t.csv", choices[0].typed = true;
  choices[1].device = "igtl", choices[1].source = "host:1/x";
  const Scene chosen = with_devices(scene, choices);
  EXPECT_EQ(chosen.instruments[0].trajectory, "t.csv");
  EXPECT_EQ(chosen.scope.source, "host:1/x");
  EXPECT_EQ(device_choices(chosen)[1], choices[1]);
  EXPECT_TRUE(without_typed_files(chosen, choices).instruments[0].trajectory.empty());
  EXPECT_EQ(without_typed_files(chosen, choices).scope.source, "host:1/x");
}

TEST(DeviceSetup, TheFieldsOfASourceComeBack) {
  EXPECT_EQ(igtl_source_text(igtl_fields("")), "localhost:18944/");
  for (const char* source : {"tracker:18945/Probe", "localhost:1/", "h:x/Left hand"})
    EXPECT_EQ(igtl_source_text(igtl_fields(source)), source);
}

TEST_F(DevicesOfAScene, AMouseIsThereAndMoves) {
  watch("mouse");
  EXPECT_TRUE(reading().fault.empty());
  const glm::dvec3 before = reading().pose->tip;
  watch_->move_mouse(0, 100.0, 0.0, 0.0);
  watch_->read(1.0);
  EXPECT_GT(glm::distance(reading().pose->tip, before), 0.005);
  EXPECT_NE(reading().joints.pan_deg, 0.0);
  watch_->move_mouse(7, 1.0, 1.0, 1.0);
  EXPECT_FALSE(watch_->blocks());
  EXPECT_EQ(watch_->readings()[1].state, "Does not move");
}

TEST_F(DevicesOfAScene, AMissingGamepadIsSaidAndMayComeLater) {
  watch("gamepad");
  EXPECT_TRUE(says("No gamepad is connected"));
  EXPECT_FALSE(watch_->blocks());
  EXPECT_FALSE(reading().pose);
  pads_ = {"1 (Pad)"};
  watch("gamepad", "Other");
  EXPECT_TRUE(says("'Other'; connected: 1 (Pad)"));
  pad_.connected = true;
  watch_->read(0.1);
  EXPECT_TRUE(reading().fault.empty()) << reading().fault;
  EXPECT_TRUE(reading().pose);
}

TEST_F(DevicesOfAScene, AMotionIsReadOnceAndPlayed) {
  TemporaryFolder folder;
  const std::string csv =
      folder.write("t.csv", "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,0,200,0,0,100\n2,0,0,200,0,0,80\n")
          .string();
  watch("trajectory");
  EXPECT_TRUE(says("No file is chosen"));
  EXPECT_TRUE(watch_->blocks());
  watch("trajectory", "", folder.path() / "none.csv");
  EXPECT_TRUE(says("none.csv")) << reading().fault;
  EXPECT_TRUE(watch_->blocks());
  watch("trajectory", "", csv);
  EXPECT_EQ(reading().state, "2 rows, 2.0 s, repeated here");
  watch_->read(1.0);
  EXPECT_NEAR(reading().pose->tip.z, 0.09, 1e-9);
  watch_->read(3.0);
  EXPECT_NEAR(reading().pose->tip.z, 0.09, 1e-9);
  // A file that the scene names by itself must lie in its folder.
  auto choices = device_choices(scene_);
  choices[0].device = "trajectory", choices[0].trajectory = csv;
  const DeviceWatch untyped(scene_, choices, access_, {});
  EXPECT_NE(untyped.readings()[0].fault.find("outside the folder"), std::string::npos) << untyped.readings()[0].fault;
}

TEST_F(DevicesOfAScene, AnotherMachineIsNotConnectedWithoutPermission) {
  watch("igtl", "tracker.example:18944/Probe");
  EXPECT_EQ(reading().asks_host, "tracker.example");
  EXPECT_TRUE(reading().fault.empty());
  watch("igtl", "localhost:0/Probe");
  EXPECT_TRUE(watch_->blocks());
  EXPECT_TRUE(says("no valid port")) << reading().fault;
}

TEST_F(DevicesOfAScene, ATrackerIsMissingThenWrongThenLive) {
  IgtlServerParams params;
  params.port = 0;
  std::optional<IgtlServer> server(std::in_place, params);
  const int port = server->port();
  server.reset();
  const std::string address = "localhost:" + std::to_string(port);
  watch("igtl", address + "/Probe");
  EXPECT_TRUE(comes_true([&] { return says("No OpenIGTLink server answers at " + address); })) << reading().fault;
  EXPECT_FALSE(watch_->blocks());
  EXPECT_FALSE(reading().pose);

  params.port = port;
  server.emplace(params);
  const RemoteCentre centre = remote_centre({0, 0, 0.2}, {0, 0, -1});
  std::vector<PublishedTool> tools{{"Stylus", matrix_of(centre, {20.0, -10.0, 30.0, 0.12, 60.0})}};
  const auto send = [&](const std::function<bool()>& what) {
    return comes_true([&] {
      server->publish(tools);
      return what();
    });
  };
  EXPECT_TRUE(send([&] { return says("sends poses of Stylus, but none of Probe"); })) << reading().fault;
  tools[0].name = "Probe";
  EXPECT_TRUE(send([&] { return reading().rate.value_or(0.0) > 10.0 && reading().fault.empty(); })) << reading().fault;
  EXPECT_NEAR(reading().joints.pan_deg, 20.0, 0.01);
  EXPECT_NEAR(reading().joints.tilt_deg, -10.0, 0.01);
  EXPECT_NEAR(reading().joints.depth, 0.12, 1e-4);
  EXPECT_NEAR(reading().pose->roll_deg, 30.0, 0.01);
  EXPECT_TRUE(comes_true([&] { return says("s old"); })) << reading().fault;  // it has stopped to send
  tools[0].pose[3] = glm::dvec4(0, 0, 9.0, 1.0);
  EXPECT_TRUE(send([&] { return says("is not a tool pose"); })) << reading().fault;
  server.reset();
  EXPECT_TRUE(comes_true([&] { return says("No OpenIGTLink server answers"); })) << reading().fault;
}

TEST(StartDevicesOf, EachSceneKeepsItsChoice) {
  Scene first = one_probe(), second = one_probe();
  second.file = "other.toml";
  StartDevices devices;
  devices.select(first);
  devices.device(0) = "igtl";
  devices.select(second);
  EXPECT_EQ(devices.choices()[0].device, "mouse");
  devices.select(first);
  EXPECT_EQ(devices.choices()[0].device, "igtl");
  first.instruments[0].name = "another";
  devices.select(first);
  EXPECT_EQ(devices.choices()[0].device, "mouse");
  EXPECT_FALSE(devices.blocks());
  EXPECT_EQ(devices.faults(), "");
}

// A tracker whose world is far away and turned: one pose of the tool calibrates it.
TEST_F(DevicesOfAScene, ATrackerIsCalibratedWithTheStartPose) {
  IgtlServerParams params;
  params.port = 0;
  IgtlServer server(params);
  const std::string source = "localhost:" + std::to_string(server.port()) + "/Probe";
  glm::dmat4 sent(glm::dmat3(glm::dvec3(0, 1, 0), glm::dvec3(0, 0, 1), glm::dvec3(1, 0, 0)));
  sent[3] = glm::dvec4(3.0, -4.0, 5.0, 1.0);
  std::vector<PublishedTool> tools{{"Probe", sent}};
  const auto comes = [&](const std::function<bool()>& what) {
    return comes_true([&] {
      server.publish(tools);
      return what();
    });
  };
  watch("igtl", source);
  EXPECT_FALSE(watch_->registration_of_start(1));
  ASSERT_TRUE(comes([&] { return watch_->registration_of_start(0).has_value(); }));
  EXPECT_TRUE(comes([&] { return says("calibrate the tracker"); })) << reading().fault;
  scene_.instruments[0].registration = *watch_->registration_of_start(0);
  watch("igtl", source);
  ASSERT_TRUE(comes([&] { return reading().pose && reading().fault.empty(); })) << reading().fault;
  EXPECT_LT(glm::distance(reading().pose->tip, scene_.instruments[0].tip), 1e-5);
  EXPECT_NEAR(reading().pose->roll_deg, 0.0, 0.01);
  tools[0].pose[3] += glm::dvec4(-0.01, 0, 0, 0);  // back along the shaft of the tracker's world
  EXPECT_TRUE(comes([&] { return std::abs(reading().joints.depth - 0.09) < 1e-4; })) << reading().joints.depth;
}

}  // namespace

}  // namespace trocar
