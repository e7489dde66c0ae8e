// Tests grades of metrics, and shares of time of uneven frames.
#include "sim/score/motion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/score/attempt.hpp"

namespace trocar {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(Score, Grades) {
  const auto mark = [](double v, double good, double poor) { return mark_of({"", "", "", v, good, poor}); };
  EXPECT_EQ(mark(2.0, 1.0, 3.0), 0.5);
  EXPECT_EQ(mark(2.0, 3.0, 1.0), 0.5);
  EXPECT_EQ(mark(0.0, 1.0, 3.0), 1.0);
  EXPECT_EQ(mark(9.0, 1.0, 3.0), 0.0);
  EXPECT_EQ(mark(1.0, 1.0, 1.0), 1.0);
  EXPECT_FALSE(std::signbit(*mark(3.0, 1.0, 3.0)));
  EXPECT_FALSE(mark(kNone, 1.0, 3.0));
  EXPECT_FALSE(mark_of({"", "", "", 1.0, 1.0, {}}));
}

TEST(Score, SharesOfUnevenFrames) {
  const std::vector<double> times{1.0, 1.5, 1.6, 1.6, 3.0};
  const auto shares = frame_shares(times);
  EXPECT_NEAR(time_of(shares, std::vector<char>{1, 1, 1, 1, 1}), 2.0, 1e-12);
  EXPECT_NEAR(time_of(shares, std::vector<char>{1, 0, 1, 1, 0}), 0.1, 1e-12);
  EXPECT_TRUE(frame_shares({}).empty());
  EXPECT_EQ(beginnings(times, std::vector<char>{1, 0, 1, 1, 0}, 0.25), 2u);
  EXPECT_EQ(beginnings(times, std::vector<char>{1, 0, 1, 1, 0}, 0.75), 1u);
  EXPECT_EQ(beginnings(times, std::vector<char>{0, 0, 0, 0, 0}, 0.25), 0u);
}

}  // namespace
}  // namespace trocar
