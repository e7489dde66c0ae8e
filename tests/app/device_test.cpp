// Devices without a hand of their own: the mouse's limits, the script's path.
#include <gtest/gtest.h>

#include <cmath>

#include "app/device/mouse_device.hpp"
#include "app/device/script_device.hpp"

namespace trocar {
namespace {

TEST(MouseDevice, TipFollowsThePointerAndStaysWithinItsLimits) {
  const MouseParams params;
  MouseDevice mouse({0, 0, 0.2}, {0, 0, 0.1}, params);
  mouse.set_screen({1, 0, 0}, {0, 1, 0});
  mouse.move(100, 0);
  for (int frame = 0; frame < 50; ++frame) mouse.pose({});
  const DevicePose right = mouse.pose({});
  EXPECT_GT(right.tip.x, 0.005);
  EXPECT_NEAR(right.tip.y, 0.0, 1e-9);
  EXPECT_NEAR(glm::length(right.tip - right.pivot), 0.1, 1e-6);
  mouse.insert(1000);
  for (int k = 0; k < 1000; ++k) mouse.move(500, 300);
  for (int frame = 0; frame < 200; ++frame) mouse.pose({});
  const DevicePose far = mouse.pose({});
  EXPECT_NEAR(glm::length(far.tip - far.pivot), params.deepest, 1e-6);
  EXPECT_LE(std::acos(glm::normalize(far.tip - far.pivot).z * -1.0), params.widest_swing + 1e-6);
}

TEST(ScriptDevice, StaysFiniteAndMoves) {
  const auto device = make_script_device({{0, 0, 0.25}, {0, 0.05, 0.1}});
  glm::dvec3 last(0.0);
  for (std::uint64_t frame = 0; frame < 600; ++frame) {
    const DevicePose pose = device->pose({frame, static_cast<double>(frame) / 60.0});
    EXPECT_TRUE(std::isfinite(pose.tip.x + pose.tip.y + pose.tip.z));
    if (frame > 0) {
      EXPECT_GT(glm::length(pose.tip - last), 0.0);
      EXPECT_LT(glm::length(pose.tip - last), 0.005);
    }
    last = pose.tip;
  }
}

}  // namespace
}  // namespace trocar
