// Tests clips in a session: an applier closes them on ducts, they hold the duct closed, count for the part on which
// they sit when scissors divide the duct, and come off when it is forced open; keys and faults of a scene.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "tests/sim/duct_session.hpp"

namespace trocar {
namespace {

using ClipsOnADuct = test::DuctSession;

// The clip goes all around, keeps the tissue flat after the jaws have let go, and lies where they were.
TEST_F(ClipsOnADuct, AnApplierClosesAClipThatHoldsTheDuctClosed) {
  start(test::duct_scene());
  run(10);
  const double before = thickness(0.015);
  clip(0.015);
  ASSERT_EQ(clips().clips().size(), 1u);
  const PlacedClip& placed = clips().clips()[0];
  const ClipPose pose = pose_of(placed.clip, duct().positions);
  std::printf("%u struts, gap %.2f mm, tension %.2f N; the duct was %.2f mm thick, and is %.2f mm\n", placed.clip.count,
              1e3 * double(pose.gap), double(tension_of(placed.clip, duct().positions, placed.used)), 1e3 * before,
              1e3 * thickness(0.015));
  EXPECT_EQ(placed.closed, 1.f);
  EXPECT_LT(glm::distance(glm::dvec3(pose.centre), glm::dvec3(0.015, 0, 0)), 1e-3);
  EXPECT_LT(double(pose.legs.z), -0.95) << "away from the hinge";
  EXPECT_LT(double(pose.gap), 1.4e-3);
  EXPECT_GT(before, 3.5e-3);
  EXPECT_LT(thickness(0.015), 2e-3);
  // The duct is stretched, so the clip sits nearer to its start than its position says.
  EXPECT_NEAR(double(placed.along), 0.014, 1.5e-3);
  EXPECT_EQ(clips().tubes()[0], (TubeState{false, 1, 1, 0.f}));
  EXPECT_EQ(session_->instruments()[0].clips_left, 19);
}

// Instruments that close on the duct more or less deep and open more or less wide never get stuck in it.
TEST_F(ClipsOnADuct, EveryCutDividesTheDuct) {
  constexpr std::uint32_t kSeed = 7;
  std::mt19937 random(kSeed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * double(random()) / 4294967296.0; };
  int on_both_sides = 0;
  for (int k = 0; k < 6; ++k) {
    start(test::duct_scene());
    const double x = uniform(0.018, 0.034), depth = uniform(0.003, 0.010), aperture = uniform(0.4, 1.0);
    for (const double at : {x - 0.009, x + 0.009}) use(0, at, -uniform(0.001, 0.0035), 1.0);
    use(1, x, -depth, aperture);
    const TubeState& tube = clips().tubes()[0];
    EXPECT_TRUE(tube.divided) << "seed " << kSeed << ", duct " << k;
    on_both_sides += tube.clips_at_start == 1 && tube.clips_at_end == 1;
    EXPECT_LT(glm::length(session_->instruments()[0].force), 0.1f) << "the duct hangs on the applier";
    EXPECT_LT(glm::length(session_->instruments()[1].force), 0.1f) << "the duct hangs on the scissors";
  }
  std::printf("%d of 6 ducts have a clip on both sides\n", on_both_sides);
  EXPECT_GE(on_both_sides, 4);
}

TEST_F(ClipsOnADuct, ClipsStayOnTheirPartOfADividedDuct) {
  start(test::duct_scene());
  run(10);
  for (const double x : {0.013, 0.019, 0.036}) clip(x);
  EXPECT_EQ(clips().tubes()[0], (TubeState{false, 3, 3, 0.f}));
  cut(0.026);
  const TubeState& tube = clips().tubes()[0];
  EXPECT_TRUE(tube.divided);
  EXPECT_NEAR(double(tube.at), 0.023, 3e-3) << "at rest";
  EXPECT_EQ(tube.clips_at_start, 2u);
  EXPECT_EQ(tube.clips_at_end, 1u);
}

// Jaws that reach the duct only with their tips leave a clip that does not close it; jaws beside it drop theirs.
TEST_F(ClipsOnADuct, AClipCountsOnlyWhereItGoesAllAround) {
  start(with("magazine = 20", "magazine = 2"));
  run(10);
  use(0, 0.015, 0.0025, 1.0);
  move(0, 0.015, 0.06);
  grip(0, 0.0);
  grip(0, 1.0);
  ASSERT_EQ(clips().clips().size(), 2u);
  const PlacedClip &half = clips().clips()[0], &dropped = clips().clips()[1];
  std::printf("a clip at the edge: %u struts, %.2f of the circumference\n", half.clip.count, double(half.closed));
  EXPECT_LT(half.closed, kClosesTube);
  EXPECT_EQ(clips().tubes()[0].clips_at_start, 0u);
  EXPECT_FALSE(dropped.on());
  EXPECT_EQ(dropped.clip.organ, kNoOrgan);
  // The magazine is empty now.
  clip(0.025);
  EXPECT_EQ(clips().clips().size(), 2u);
  EXPECT_EQ(session_->instruments()[0].clips_left, 0);
}

// A clip whose tissue is pulled apart comes off; one that holds more stays.
TEST_F(ClipsOnADuct, AClipThatIsForcedOpenComesOff) {
  for (const bool weak : {true, false}) {
    start(with("holds_n = 8", weak ? "holds_n = 1" : "holds_n = 8"));
    run(10);
    clip(0.015);
    ASSERT_EQ(clips().clips().size(), 1u);
    EXPECT_EQ(clips().clips()[0].on(), !weak);
    EXPECT_EQ(clips().tubes()[0].clips_at_start, weak ? 0u : 1u);
    EXPECT_EQ(session_->bonds().bonds().struts.size(), weak ? 0u : clips().clips()[0].clip.count);
  }
}

TEST_F(ClipsOnADuct, ClipsPassThroughASavedSession) {
  start(test::duct_scene());
  run(10);
  clip(0.013);
  cut(0.026);
  ASSERT_TRUE(clips().tubes()[0].divided);
  move(0, 0.008, 0.04);
  move(0, 0.008, -0.002);
  pose_[0].grip = 0.3;
  run(2);
  const Saved saved = save();
  const auto finish = [&] {
    grip(0, 0.0);
    grip(0, 1.0);
    run(10);
    return session_->save();
  };
  const TubeState before = clips().tubes()[0];
  const std::vector<std::byte> uninterrupted = finish();
  ASSERT_EQ(clips().clips().size(), 2u);
  restore(saved);
  ASSERT_EQ(clips().clips().size(), 1u);
  EXPECT_EQ(clips().tubes()[0], before);
  EXPECT_EQ(finish(), uninterrupted);
}

TEST_F(ClipsOnADuct, FaultsAreOneSentence) {
  expect_sentence(with("length_mm = 8.5", "length_mm = 15"), "is more than the jaws, which are 14 mm long");
  expect_sentence(with("length_mm = 8.5", "length_mm = 0"), "length_mm");
  expect_sentence(with("length_mm = 8.5", "closes = 0.4\nloads = 0.3"), "loads: must be more than closes");
  expect_sentence(with("magazine = 20", "magazine = -1"), "magazine");
  expect_sentence(with("magazine = 20", "clips = 20"), "clips");
  expect_sentence(with("kind = \"clip-applier\"", "kind = \"stapler\""), "clip-applier");
}

}  // namespace
}  // namespace trocar
