// Tests the reference for presses on fine finite elements: a ball against Hertz, deeper against the fit for neo-Hookean
// solids of Zhang, Cao, Li, Feng (J. Mech. Phys. Solids 68, 2014), and a cylinder on a glued layer against its exact
// response.
#include "deform/reference/fine_press.hpp"

#include "deform/reference/specimen.hpp"
#include "tests/support/test.hpp"

namespace {

using namespace trocar;

constexpr double kYoung = 6000.0, kNu = 0.46;  // Pa, 1
constexpr double kBallRadius = 2.5e-3;         // m

TEST(FinePress, ABallIsThatOfHertz) {
  const double depth = 0.1 * kBallRadius, height = 0.036;
  FinePress press({0.12, height, kYoung, kNu, PressedSolid::Linear}, {{{0.0, kBallRadius}}, 0.0, kBallRadius},
                  {3e-4, 0.4});
  const double ratio = press.press_to(depth).value().force / hertz_on_layer(kYoung, kNu, kBallRadius, depth, height);
  std::printf("a tenth of the radius deep: %.3f of Hertz\n", ratio);
  EXPECT_NEAR(ratio, 1.0, 0.03);
}

// The fit is F = Hertz (1 - 0.15 depth / radius), of an incompressible half-space; here over Hertz on the layer.
TEST(FinePress, ADeeperBallIsThatOfANeoHookeanSolid) {
  FinePress press({0.12, 0.036, kYoung, kNu}, {{{0.0, kBallRadius}}, 0.0, kBallRadius}, {4.5e-4, 0.6});
  for (const double share : {0.5, 1.0}) {
    const double force = press.press_to(share * kBallRadius).value().force;
    const double ratio = force / hertz_on_layer(kYoung, kNu, kBallRadius, share * kBallRadius, 0.036);
    std::printf("%.1f radii deep: %.3f of Hertz, fitted %.3f\n", share, ratio, 1.0 - 0.15 * share);
    EXPECT_NEAR(ratio / (1.0 - 0.15 * share), 1.0, 0.04);
  }
}

// Forces of the shapes of instruments scale with their size and with the modulus.
TEST(FinePress, ForcesScaleWithSizeAndModulus) {
  const PressShape wire{{{0.0, 4.5e-4}}, 4e-3, 4.5e-4}, wide{{{0.0, 9e-4}}, 8e-3, 9e-4};
  FinePress small({0.036, 0.018, kYoung, kNu}, wire, {2.25e-4, 0.7}),
      large({0.072, 0.036, 2.0 * kYoung, kNu}, wide, {4.5e-4, 0.7});
  EXPECT_NEAR(large.press_to(9e-4).value().force / small.press_to(4.5e-4).value().force, 8.0, 0.02);
}

TEST(FinePress, ACylinderIsThatOfAGluedLayer) {
  const PressedBlock block{0.3, 0.018, kYoung, kNu, PressedSolid::Linear, true};
  FinePress press(block, {{{0.0, kBallRadius}}, 0.0, kBallRadius}, {2e-4, 0.2});
  for (const double depth : {1e-4, 2.5e-4, 5e-4}) {
    const double force = press.press_to(depth).value().force;
    const double exact = cylinder_depth_on_layer(kYoung, kNu, kBallRadius, force, block.height);
    std::printf("%.2f mm deep: %.4f of the depth of a cylinder with this force\n", 1e3 * depth, depth / exact);
    EXPECT_NEAR(depth / exact, 1.0, 0.01);
  }
}

}  // namespace
