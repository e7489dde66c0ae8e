// Tests the registration of a tracker: rotation vectors against GLM's quaternions, and the transform that one pose of
// the tool gives; the calibration of hand-held devices.
#include "sim/link/registration.hpp"

#include <gtest/gtest.h>

#include <glm/gtc/quaternion.hpp>
#include <random>

#include "sim/device/hand_device.hpp"
#include "sim/device/joints.hpp"

namespace trocar {
namespace {

glm::dmat4 rigid(const glm::dvec3& axis, double degrees, const glm::dvec3& at) {
  glm::dmat4 matrix = glm::mat4_cast(glm::angleAxis(glm::radians(degrees), glm::normalize(axis)));
  matrix[3] = glm::dvec4(at, 1.0);
  return matrix;
}

double difference(const glm::dmat4& a, const glm::dmat4& b) {
  double most = 0.0;
  for (int column = 0; column < 4; ++column)
    for (int row = 0; row < 4; ++row) most = std::max(most, std::abs(a[column][row] - b[column][row]));
  return most;
}

TEST(Registration, NoneIsTheIdentityBitForBit) {
  EXPECT_EQ(matrix_of(Registration{}), glm::dmat4(1.0));
  EXPECT_EQ(registration_between(glm::dmat4(1.0), glm::dmat4(1.0)), Registration{});
}

TEST(Registration, RotationVectorsAreThoseOfQuaternions) {
  for (const double degrees : {1e-3, 30.0, 90.0, 179.0, 180.0})
    for (const glm::dvec3 axis : {glm::dvec3(1, 0, 0), {0, -1, 0}, {1, 2, -3}}) {
      const Registration turned{{1, 2, 3}, degrees * glm::normalize(axis)};
      EXPECT_LT(difference(matrix_of(turned), rigid(axis, degrees, {1, 2, 3})), 1e-12) << degrees;
    }
}

TEST(Registration, OnePoseOfTheToolGivesIt) {
  const unsigned seed = 5;
  std::mt19937 random(seed);
  std::uniform_real_distribution<> share(-1.0, 1.0);
  const auto any = [&] { return glm::dvec3(share(random), share(random), share(random)); };
  for (int round = 0; round < 200; ++round) {
    const double angle = round % 4 == 0 ? 180.0 : 180.0 * share(random);
    const glm::dmat4 sent = rigid(any(), angle, any()),
                     wanted = round % 3 == 0 ? glm::dmat4(1.0) : rigid(any(), 90, any());
    const Registration found = registration_between(sent, wanted);
    EXPECT_LT(difference(matrix_of(found) * sent, wanted), 3e-5) << round;  // 0.001 degrees
    EXPECT_LT(glm::distance(glm::dvec3((matrix_of(found) * sent)[3]), glm::dvec3(wanted[3])), 1e-6) << round;
  }
}

TEST(AxisScale, ReversesAndScalesAHandHeldDevice) {
  const auto end_of = [](const AxisScale& axes) {
    HeldTool tool;
    tool.tip = {0, 0, -0.1}, tool.axes = axes;
    GamepadState state{true};
    state.axes[0] = 0.5f, state.axes[1] = -0.6f, state.axes[2] = 0.7f, state.axes[3] = -0.5f;
    GamepadDevice device(tool, [&] { return state; });
    DevicePose pose;
    for (std::uint64_t frame = 0; frame < 10; ++frame) pose = device.pose({frame, static_cast<double>(frame) / 60.0});
    return pose;
  };
  const DevicePose usual = end_of({}), reversed = end_of({-1, -1, -1, -1}), doubled = end_of({1, 1, 2, 3}),
                   still = end_of({0, 0, 0, 0});
  EXPECT_NEAR(reversed.tip.x / glm::length(reversed.tip), -usual.tip.x / glm::length(usual.tip), 1e-3);
  EXPECT_NEAR(reversed.tip.y / glm::length(reversed.tip), -usual.tip.y / glm::length(usual.tip), 1e-3);
  EXPECT_NEAR(glm::length(doubled.tip) - 0.1, 2.0 * (glm::length(usual.tip) - 0.1), 1e-12);
  EXPECT_NEAR(glm::length(reversed.tip) - 0.1, 0.1 - glm::length(usual.tip), 1e-12);
  EXPECT_NEAR(doubled.roll_deg, 3.0 * usual.roll_deg, 1e-9);
  EXPECT_EQ(still.tip, glm::dvec3(0, 0, -0.1));
}

}  // namespace
}  // namespace trocar
