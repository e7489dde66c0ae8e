// Tests the automatic quality: it goes down when drawing is slow, up when it is fast, and stays constant in between.
#include "app/view/drawn.hpp"

#include <gtest/gtest.h>

namespace trocar {
namespace {

void draw(QualityKeeper& keeper, int pictures, double ms) {
  for (int k = 0; k < pictures; ++k) keeper.drawn(ms);
}

TEST(Quality, StartsHighAndStaysHighWhileFast) {
  QualityKeeper keeper;
  draw(keeper, 1000, 20.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
}

TEST(Quality, OneSlowPictureChangesNothing) {
  QualityKeeper keeper;
  for (int k = 0; k < 100; ++k) {
    draw(keeper, 1, 400.0);
    draw(keeper, 1, 10.0);
  }
  EXPECT_EQ(keeper.quality(), Quality::High);
}

TEST(Quality, GoesDownStepByStep) {
  QualityKeeper keeper;
  const int wait = QualityParams{}.down_after;
  draw(keeper, wait - 1, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
  draw(keeper, 1, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  draw(keeper, wait, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::Low);
  draw(keeper, 1000, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::Low);
}

TEST(Quality, RisesOnlyWhenDrawingIsFastEnough) {
  QualityKeeper keeper;
  draw(keeper, 40, 50.0);
  draw(keeper, 5000, 20.0);  // fast enough to stay, too slow to rise
  EXPECT_EQ(keeper.quality(), Quality::Low);
  draw(keeper, 2 * QualityParams{}.up_after, 5.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
}

// A machine that draws Medium in 8 ms and High in 60 ms must not oscillate between them forever.
TEST(Quality, OscillatesLessAndLess) {
  QualityKeeper keeper;
  int ups = 0;
  Quality before = keeper.quality();
  for (int k = 0; k < 20000; ++k) {
    keeper.drawn(keeper.quality() == Quality::High ? 60.0 : 8.0);
    if (keeper.quality() > before) ++ups;
    before = keeper.quality();
  }
  EXPECT_GE(ups, 3);
  EXPECT_LE(ups, 9);  // 20000 / (240 + 20) would be 76
}

TEST(Quality, RepeatingTheSameChoiceChangesNothing) {
  QualityKeeper keeper;
  for (int k = 0; k < 40; ++k) {
    keeper.fix(std::nullopt);
    keeper.drawn(50.0);
  }
  EXPECT_EQ(keeper.quality(), Quality::Low);
}

TEST(Quality, TheUserCanFixIt) {
  QualityKeeper keeper;
  keeper.fix(Quality::Medium);
  draw(keeper, 500, 500.0);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  EXPECT_TRUE(keeper.fixed());
  keeper.fix(std::nullopt);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  draw(keeper, 40, 500.0);
  EXPECT_EQ(keeper.quality(), Quality::Low);
}

}  // namespace
}  // namespace trocar
