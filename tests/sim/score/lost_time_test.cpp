// Tests the watch over lost time, against a list of all pictures that is searched without steps.
#include "sim/score/lost_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "tests/support/test.hpp"

namespace trocar {
namespace {

TEST(LostTime, NothingIsLostBeforeTheFirstPictureAndOnAFastMachine) {
  LostTime time;
  EXPECT_EQ(time.share(), 0.0);
  EXPECT_EQ(time.worst(), 0.0);
  EXPECT_FALSE(time.is_much());
  for (int picture = 0; picture < 3600; ++picture) time.add(picture / 60.0, 0.0);
  EXPECT_FALSE(time.is_much());
}

TEST(LostTime, WhatIsNotFiniteAndWhatGoesBackChangesNothing) {
  LostTime time;
  time.add(20.0, 1.0);
  for (const double wall : {double(NAN), double(INFINITY), -1.0}) time.add(wall, double(NAN));
  time.add(10.0, 0.5);
  EXPECT_EQ(time.share(), 0.05);
  time.add(1e300, 1.0);
  EXPECT_LT(time.share(), 1e-8);
}

// A short attempt is not spoilt by its first picture, but by what 3 % of ten seconds are.
TEST(LostTime, AShortAttemptIsMeasuredAgainstTenSeconds) {
  LostTime time;
  time.add(0.5, 0.1);
  EXPECT_NEAR(time.share(), 0.01, 1e-12);
  EXPECT_FALSE(time.is_much());
  time.add(1.0, 0.31);
  EXPECT_TRUE(time.is_much());
}

// Half a second lost within a second of a minute is 1 % of it, and 5 % of the worst ten seconds.
TEST(LostTime, TheWorstTenSecondsCount) {
  LostTime time;
  for (int picture = 0; picture <= 60 * 60; ++picture) {
    const double wall = picture / 60.0;
    time.add(wall, std::clamp(0.5 * (wall - 30.0), 0.0, 0.5));
    if (wall <= 30.5) {
      EXPECT_FALSE(time.is_much()) << wall;
    }
    if (wall >= 31.0) {
      EXPECT_TRUE(time.is_much()) << wall;
    }
  }
  EXPECT_NEAR(time.share(), 0.5 / 60.0, 1e-12);
  EXPECT_NEAR(time.worst(), 0.05, 0.001);
}

// What was lost since the last tenth of a second that is 10 s ago, of all pictures, found by going through their list.
// Between two pictures it is lost evenly.
TEST(LostTime, RandomPicturesAgreeWithASearchThroughAll) {
  std::printf("seed 4901\n");
  std::mt19937 random(4901);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int trial = 0; trial < 100; ++trial) {
    LostTime time;
    std::vector<double> walls{0.0}, losses{0.0};
    const double slow = uniform(random);
    double worst = 0.0;
    while (walls.back() < 60.0) {
      const double step = uniform(random) < 0.01 ? 15.0 * uniform(random) : 0.03 * uniform(random);
      walls.push_back(walls.back() + step);
      losses.push_back(losses.back() + (uniform(random) < slow ? step * uniform(random) : 0.0));
      time.add(walls.back(), losses.back());
      const double from = std::floor(walls.back() / 0.1) * 0.1 - 10.0;
      if (from < -1e-9) continue;
      double before = 0.0;
      for (std::size_t k = 1; k < walls.size(); ++k)
        if (walls[k - 1] <= from && from < walls[k])
          before = losses[k - 1] + (losses[k] - losses[k - 1]) * (from - walls[k - 1]) / (walls[k] - walls[k - 1]);
      worst = std::max(worst, (losses.back() - before) / (walls.back() - from));
    }
    EXPECT_NEAR(time.worst(), worst, 1e-9) << trial;
    EXPECT_NEAR(time.share(), losses.back() / walls.back(), 1e-12) << trial;
  }
}

}  // namespace
}  // namespace trocar
