// Tests when tips move through tissue without contact: the rules by hand, and a session in which a hook that has burnt
// its way too deep leaves.
#include "sim/session/cpu_backends.hpp"
#include "sim/session/tissue_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "sim/device/trajectory.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

TEST(TipSlip, BeginsAboveTheForceThatTissueBearsAndEndsOutsideTheOrgan) {
  TipSlip wires(2, 2);
  const auto frame = [&](const glm::vec3& force, bool touches) {
    wires.begin();
    for (int piece = 0; piece < 4; ++piece) wires.add(1, 0, 0.25f * force);
    for (const std::size_t organ : {0u, 1u}) wires.settle(1, organ, {touches, false, 2.0, kFrame});
    return wires.slips(1, 0);
  };
  EXPECT_FALSE(frame({0.f, 1.99f, 0.f}, true));
  EXPECT_TRUE(frame({0.f, 1.5f, 1.5f}, true));
  EXPECT_TRUE(frame({0.f, 0.f, 0.f}, true)) << "it is still in the organ";
  EXPECT_FALSE(wires.slips(1, 1)) << "another organ";
  EXPECT_FALSE(wires.slips(0, 0)) << "another tool";
  EXPECT_FALSE(frame({0.f, 0.f, 0.f}, false));
  EXPECT_FALSE(frame({0.f, 1.f, 0.f}, true)) << "a new contact";
}

// Pierced skin ends the contact after a quarter of a second without a break, at any rate.
TEST(TipSlip, BeginsWhenThePartStaysInTheSkin) {
  for (const double rate : {60.0, 30.0, 500.0, 2000.0}) {
    TipSlip slips(1, 1);
    const auto frames = [&](int count, bool pierced) {
      for (int k = 0; k < count; ++k) slips.begin(), slips.settle(0, 0, {true, pierced, INFINITY, 1.0 / rate});
      return slips.slips(0, 0);
    };
    const int patience = std::min(int(std::ceil(0.25 * rate)), 255);
    EXPECT_FALSE(frames(patience - 1, true)) << rate;
    EXPECT_FALSE(frames(1, false)) << rate;
    EXPECT_FALSE(frames(patience - 1, true)) << rate << ": it begins again";
    EXPECT_TRUE(frames(1, true)) << rate;
    EXPECT_TRUE(frames(10, false)) << rate << ": until it has left";
    slips.settle(0, 0, {});
    EXPECT_FALSE(slips.slips(0, 0)) << rate;
  }
}

// The demonstration's hook burns along a line that leads ever deeper into the liver, and then leaves without energy.
double strongest_force_on_the_hook(double tears_from) {
  Scene scene = load_scene(repository_file("data/scenes/four_instruments.toml"));
  const auto hook = std::find_if(scene.instruments.begin(), scene.instruments.end(),
                                 [](const InstrumentScene& i) { return i.kind == InstrumentKind::Hook; });
  hook->hook.tears_from = tears_from;
  const auto tool = static_cast<std::size_t>(hook - scene.instruments.begin());
  CpuBackends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  });
  double strongest = 0.0;
  for (std::size_t frame = 0; frame < 240; ++frame) {
    session.step({frame, double(frame) * kFrame}, kFrame);
    strongest = std::max(strongest, double(glm::length(session.instruments()[tool].force)));
  }
  std::printf("tears from %g N: strongest %.2f N\n", tears_from, strongest);
  return strongest;
}

TEST(TipSlip, ADeepWireTearsOutInsteadOfDraggingTheOrganAlong) {
  EXPECT_LT(strongest_force_on_the_hook(HookParams{}.tears_from), 3.0);
  EXPECT_LT(strongest_force_on_the_hook(1000.0), 3.0) << "a wire that no force tears out has pierced the skin";
}

}  // namespace
}  // namespace trocar
