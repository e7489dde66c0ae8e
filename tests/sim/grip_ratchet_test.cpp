// Tests the ratchet of the handle: clicks and longer presses, measured in seconds, at any rate of frames.
#include "sim/device/mouse_device.hpp"

#include <gtest/gtest.h>

namespace trocar {
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
}  // namespace trocar
