// Tests fluid in a session: all blood and water is on the organs, has dripped off or was sucked away; suction removes
// what is near its tip and rinsing thins it; saved sessions; faults of a scene.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/fluid_session.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar {
namespace {

using test::FluidOnADuct;

TEST_F(FluidOnADuct, NoFluidIsLost) {
  start(bleeding());
  run(10);
  EXPECT_TRUE(session_->film().possible());
  EXPECT_EQ(amounts(), FluidAmounts{});
  cut(0.026);
  after_frame_ = [this](std::uint64_t) { expect_nothing_lost(); };
  run(120);
  EXPECT_GT(session_->film().blood_area(), 0.0);
  const double before = amounts().on[0];
  pump(Diathermy::Cut, 60);
  EXPECT_GT(amounts().removed[0], 0.0);
  EXPECT_LT(amounts().on[0], before) << "600 ml/min are sucked, 40 ml/min bleed";
  EXPECT_EQ(amounts().rinsed, 0.0);
  pump(Diathermy::Coagulate, 60);
  EXPECT_NEAR(amounts().rinsed / kMillilitre, 5.0, 1e-9) << "300 ml/min for a second";
  pump(Diathermy::Cut, 60);
  std::printf("blood: %.3f ml on the duct, %.3f ml dripped off, %.3f ml removed; water: %.3f, %.3f, %.3f ml\n",
              amounts().on[0] / kMillilitre, amounts().dripped[0] / kMillilitre, amounts().removed[0] / kMillilitre,
              amounts().on[2] / kMillilitre, amounts().dripped[2] / kMillilitre, amounts().removed[2] / kMillilitre);
  EXPECT_GT(amounts().removed[2], 0.0);
  EXPECT_GT(amounts().dripped[0], 0.0) << "the duct is thin and hangs in air";
}

// Water thins the blood: after rinsing less of the duct is red.
TEST_F(FluidOnADuct, RinsingThinsBlood) {
  start(bleeding());
  run(10);
  cut(0.026);
  clip(0.012);
  run(60);
  const double red = session_->film().blood_area(), blood = amounts().on[0];
  pump(Diathermy::Coagulate, 180);
  std::printf("%.2f cm^2 red, then %.2f cm^2; %.3f ml of blood, then %.3f ml\n", 1e4 * red,
              1e4 * session_->film().blood_area(), blood / kMillilitre, amounts().on[0] / kMillilitre);
  EXPECT_LT(session_->film().blood_area(), 0.8 * red);
  EXPECT_LT(amounts().on[0], blood);
}

TEST_F(FluidOnADuct, SuctionFarAwayAndInAirRemovesNothing) {
  start(bleeding());
  run(10);
  cut(0.026);
  pump(Diathermy::Cut, 30, 0.03f);
  EXPECT_EQ(amounts().removed, FilmVolume{});
  const double dripped = amounts().dripped[2];
  pump(Diathermy::Coagulate, 30, 0.06f);
  EXPECT_NEAR(amounts().dripped[2] - dripped, amounts().rinsed, 1e-15) << "water in air runs off";
}

TEST_F(FluidOnADuct, ASteadyFrameAllocatesNothing) {
  start(bleeding());
  run(10);
  cut(0.026);
  run(300);
  const std::uint64_t before = allocations_so_far();
  run(60);
  EXPECT_EQ(allocations_so_far(), before);
}

TEST_F(FluidOnADuct, PassesThroughASavedSession) {
  start(bleeding());
  run(10);
  cut(0.026);
  run(37);
  const Saved saved = save();
  const FluidAmounts before = amounts();
  const auto finish = [&] {
    pump(Diathermy::Cut, 20);
    run(40);
    return session_->save();
  };
  const std::vector<std::byte> uninterrupted = finish();
  restore(saved);
  EXPECT_EQ(amounts(), before);
  EXPECT_EQ(finish(), uninterrupted);
}

TEST_F(FluidOnADuct, FaultsAreOneSentence) {
  expect_sentence(bleeding("suck_ml_min = -1\n"), "suck_ml_min");
  expect_sentence(bleeding("rinse_ml_min = -1\n"), "rinse_ml_min");
  expect_sentence(bleeding("reach_mm = 0\n"), "reach_mm");
  expect_sentence(bleeding("rate = 1\n"), "rate");
}

}  // namespace
}  // namespace trocar
