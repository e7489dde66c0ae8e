// Tests single movements of scripted trainees who clip and divide a duct.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/hand_movements.hpp"

namespace trocar {
namespace {

using test::HandMovements;
using test::steady;

class ClipMovements : public HandMovements {
 protected:
  ClipMovements() {
    add("applier", InstrumentKind::ClipApplier), add("scissors", InstrumentKind::Scissors);
    scene_.task->steps[0].kind = StepKind::Divide;
    scene_.task->locations = {{"duct", {0.f, 0.f, 0.f}, TubeSide::End}};
  }

  // An attempt to close a clip.
  struct Attempt {
    glm::dvec3 tip;         // m  when the jaws opened again
    double aperture = 1.0;  // 1  then
    double out = 0.0;       // m  the largest distance from the duct along the shaft, afterwards
  };
  // Shows frames until some attempts have ended. The applier feels `force` while its jaws are less than half open.
  std::vector<Attempt> attempts(std::size_t count, float force) {
    std::vector<Attempt> ended;
    bool closing = false;
    for (int k = 0; k < 60 * 60 && ended.size() <= count; ++k) {
      const DevicePose before = pose_of(0);
      show(before.grip < 0.5 ? force : 0.f);
      const DevicePose now = pose_of(0);
      if (closing && now.grip > before.grip) ended.push_back({before.tip, before.grip});
      closing = now.grip < before.grip || (closing && now.grip == before.grip);
      if (!ended.empty()) ended.back().out = std::max(ended.back().out, now.tip.z);
    }
    if (ended.size() > count) ended.pop_back();
    return ended;
  }
};

TEST_F(ClipMovements, AHandThatPushesTheDuctAsideOpensMovesOutAndAimsAgain) {
  begin();
  const std::vector<Attempt> ended = attempts(4, 0.15f);
  ASSERT_EQ(ended.size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(ended[k].aperture, 0.47, 0.04) << k;
    EXPECT_GT(ended[k].out, 0.020) << k;
    EXPECT_NEAR(ended[k].tip.x, ended[0].tip.x, 2e-4) << k;
    EXPECT_NEAR(ended[k].tip.z, ended[0].tip.z, 2e-4) << k << ": not deeper, as after a clip that does not close";
  }
  EXPECT_LT(ended[3].aperture, 0.01) << "it gives way three times at most";
}

TEST_F(ClipMovements, ALightForceDoesNotStopTheClosing) {
  begin();
  const std::vector<Attempt> ended = attempts(1, 0.07f);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_LT(ended[0].aperture, 0.01);
}

TEST_F(ClipMovements, ACarelessHandClosesOnADuctThatItPushesAside) {
  HandStyle careless = steady();
  careless.careless = true;
  begin(careless);
  const std::vector<Attempt> ended = attempts(1, 0.5f);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_LT(ended[0].aperture, 0.01);
}

// The target lies 20 mm along the duct, at x = 0; two clips close it on the side of its end.
TEST_F(ClipMovements, TheCutKeepsAwayFromAClip) {
  const auto cut_with = [&](double leaving) {
    clips_.assign(3, {});
    for (PlacedClip& clip : clips_) clip.clip.organ = 1, clip.clip.count = 4, clip.closed = 1.f;
    clips_[0].along = 0.0285f, clips_[1].along = 0.024f, clips_[2].along = static_cast<float>(leaving);
    for (int k = 0; k < 600 && pose_of(1).grip > 0.1; ++k) show();
    const double cut = pose_of(1).tip.x;
    for (int k = 0; k < 600 && pose_of(1).grip < 0.9; ++k) show();
    return cut;
  };
  begin();
  EXPECT_NEAR(cut_with(0.0155), 0.0, 3e-4);
  cut_with(0.0182);
  EXPECT_NEAR(cut_with(0.0182), 0.0011, 3e-4) << "in the middle between two clips";
}

TEST_F(ClipMovements, MoveTowardsTheTargetWhereNoneCloses) {
  begin();
  std::vector<double> closed;
  double before = 1.0;
  for (int k = 0; k < 60 * 60 && closed.size() < 6; ++k) {
    show();
    const DevicePose pose = pose_of(0);
    if (pose.grip < 0.1 && before >= 0.1) closed.push_back(pose.tip.x);
    before = pose.grip;
  }
  ASSERT_EQ(closed.size(), 6u);
  for (std::size_t k = 1; k < closed.size(); ++k) EXPECT_LE(closed[k], closed[k - 1] + 2e-4);
  EXPECT_NEAR(closed[0], 0.0085, 5e-4);
  EXPECT_NEAR(closed[1], closed[0], 5e-4) << "the second attempt only goes further in";
  EXPECT_NEAR(closed[5], 0.0060, 5e-4);
}

}  // namespace
}  // namespace trocar
