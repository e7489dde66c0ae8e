// Tests how many ticks each picture runs, with artificial clocks: slow, fast, irregular, stopped and jumping. Tests the
// budget of the check.
#include "sim/session/tick_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace trocar {
namespace {

struct Minute {
  std::uint64_t ticks = 0;
  int most = 0;  // in a picture
  FrameClock last;
  double wall = 0.0, lost = 0.0;
};

// Runs a minute of pictures and checks every tick's number, time and wall time.
template <typename Elapsed>
Minute minute_of(const TickParams& params, Elapsed elapsed) {
  TickClock clock(params);
  Minute minute;
  double passed = 0.0;
  for (int picture = 0; passed < 60.0; ++picture) {
    const double e = picture == 0 ? 7.0 : elapsed(picture);  // time before the first picture does not count
    if (picture > 0) passed += e;
    const int ticks = clock.picture(e);
    minute.most = std::max(minute.most, ticks);
    for (int k = 0; k < ticks; ++k) {
      const FrameClock tick = clock.next();
      EXPECT_EQ(tick.frame, minute.ticks);
      EXPECT_EQ(tick.time, static_cast<double>(tick.frame) * (1.0 / params.rate));
      if (minute.ticks > 0) {
        EXPECT_GT(tick.wall, minute.last.wall);
      }
      EXPECT_GE(tick.lost, minute.last.lost);
      minute.last = tick;
      ++minute.ticks;
    }
  }
  minute.wall = clock.wall();
  minute.lost = clock.lost();
  EXPECT_NEAR(minute.wall, passed, 1e-9 * passed);
  // Simulated time plus lost time equals the wall time, up to half a tick that is still due.
  EXPECT_NEAR(static_cast<double>(minute.ticks - 1) / params.rate + minute.lost, minute.wall, 0.5001 / params.rate);
  return minute;
}

TEST(TickClock, AMinuteIsAMinuteAtAnyPictureRate) {
  for (const double rate : {2.0, 5.0, 15.0, 20.0, 30.0, 60.0, 61.7, 144.0, 240.0, 1000.0}) {
    const Minute minute = minute_of({}, [&](int) { return 1.0 / rate; });
    const double kept = std::min(1.0, 3.0 * rate / 60.0);
    EXPECT_NEAR(minute.last.wall, 60.0, 0.6) << rate;
    EXPECT_NEAR(minute.lost, 60.0 * (1.0 - kept), 0.6) << rate;
    EXPECT_LE(minute.most, 3) << rate;
    if (rate >= 20.0) {
      EXPECT_EQ(minute.lost, 0.0) << rate;
    }
  }
}

// Tests a display at the tick rate: each picture gets one tick in spite of jitter.
TEST(TickClock, ADisplayAtTheTickRateGetsOneTickAPicture) {
  std::mt19937 random(3);
  SCOPED_TRACE("seed 3");
  std::uniform_real_distribution<double> jitter(-0.2, 0.2);
  TickClock clock({});
  double early = 0.0;
  EXPECT_EQ(clock.picture(0.0), 1);
  clock.next();
  for (int picture = 0; picture < 3600; ++picture) {
    const double now = jitter(random);
    ASSERT_EQ(clock.picture((1.0 + now - early) / 60.0), 1) << picture;
    clock.next();
    early = now;
  }
}

TEST(TickClock, TicksOfOnePictureShareItsWallTime) {
  TickClock clock({});
  clock.picture(0.0);
  EXPECT_EQ(clock.next().wall, 0.0);
  ASSERT_EQ(clock.picture(0.2), 3);
  for (const double wall : {0.2 / 3.0, 0.4 / 3.0, 0.2}) EXPECT_NEAR(clock.next().wall, wall, 1e-12);
  EXPECT_NEAR(clock.lost(), 9.0 / 60.0, 1e-12);
}

TEST(TickClock, InterruptedTimeDoesNotCount) {
  TickClock clock({});
  clock.picture(0.0);
  clock.next();
  clock.picture(1.0 / 60.0);
  clock.next();
  clock.interrupt();
  EXPECT_EQ(clock.picture(100.0), 0);
  EXPECT_FALSE(clock.after_gap());
  EXPECT_NEAR(clock.wall(), 1.0 / 60.0, 1e-12);
  EXPECT_EQ(clock.lost(), 0.0);
}

// A clock that jumps back and forth, stops, or gives invalid values: time never decreases, and no jump counts more than
// the longest gap.
TEST(TickClock, AClockThatJumpsDoesNoHarm) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  std::mt19937 random(5);
  SCOPED_TRACE("seed 5");
  TickClock clock({});
  FrameClock last{0, -1.0, -1.0, 0.0};
  double allowed = 0.0;
  for (int picture = 0; picture < 20000; ++picture) {
    const double jumps[] = {-3600.0, 3600.0, -1e-3, kNaN, -kInf, kInf, 1e300, 0.0};
    const bool jump = random() % 50 == 0;
    const double elapsed = jump ? jumps[random() % std::size(jumps)] : 1.0 / 60.0;
    if (std::isfinite(elapsed)) allowed += std::clamp(elapsed, 0.0, 2.0);
    const int ticks = clock.picture(elapsed);
    ASSERT_GE(ticks, 0);
    ASSERT_LE(ticks, 3);
    for (int k = 0; k < ticks; ++k) {
      const FrameClock tick = clock.next();
      ASSERT_GT(tick.time, last.time);
      ASSERT_GT(tick.wall, last.wall);
      ASSERT_GE(tick.lost, last.lost);
      last = tick;
    }
  }
  EXPECT_LE(clock.wall(), allowed + 1e-6);
  EXPECT_GT(clock.wall(), 0.9 * 20000 / 60.0);
}

// Pictures of a machine whose work and check take these times. Returns the share of checked ticks.
struct Machine {
  double work_ms, check_ms, display_ms;  // display: pictures appear at multiples of this; 0: at once
  double lost = 0.0;                     // s
  double checked = 0.0;

  void run() {
    TickClock clock({});
    CheckBudget budget(1e3 / 60.0);
    double elapsed = 0.0, busy = 0.0;  // ms
    int ticks_done = 0, checks = 0;
    for (int picture = 0; picture < 20000; ++picture) {
      const int ticks = clock.picture(1e-3 * (elapsed - budget.take_overrun()));
      const bool may_check = ticks > 0 && budget.room(busy, elapsed);
      busy = 0.4 * work_ms + 0.6 * work_ms * ticks;  // drawing, then the ticks
      for (int k = 0; k < ticks; ++k) clock.next();
      elapsed = busy;
      if (may_check) elapsed += check_ms, budget.ran(check_ms), ++checks;
      elapsed = std::max(elapsed, display_ms > 0.0 ? std::ceil(elapsed / display_ms) * display_ms : 1.0);
      ticks_done += ticks;
    }
    lost = clock.lost();
    checked = static_cast<double>(checks) / ticks_done;
  }
};

TEST(CheckBudget, TheCheckNeverCostsATick) {
  struct Case {
    Machine machine;
    double least_checked;
  };
  for (Case c : {Case{{4.0, 3.0, 1e3 / 60.0}, 0.99},  // everything fits
                 Case{{4.0, 60.0, 1e3 / 60.0}, 0.0},  // a check that never fits
                 Case{{4.0, 1e4, 1e3 / 60.0}, 0.0},   // and one of ten seconds
                 Case{{14.0, 5.0, 1e3 / 60.0}, 0.0},  // nearly no time left
                 Case{{10.0, 5.0, 1e3 / 30.0}, 0.4},  // a display of 30 Hz: every other tick
                 Case{{4.0, 3.0, 0.0}, 0.99}}) {      // a display without vertical sync
    c.machine.run();
    EXPECT_EQ(c.machine.lost, 0.0) << c.machine.work_ms << " ms, check " << c.machine.check_ms << " ms";
    EXPECT_GE(c.machine.checked, c.least_checked) << c.machine.work_ms << " ms, check " << c.machine.check_ms << " ms";
  }
}

// On a machine that loses time without the check, the check loses no more.
TEST(CheckBudget, ASlowMachineLosesNoMoreForIt) {
  Machine with{60.0, 20.0, 0.0}, without{60.0, 0.0, 0.0};
  with.run();
  without.run();
  EXPECT_GT(without.lost, 10.0);
  EXPECT_LT(with.checked, 0.01);
  EXPECT_NEAR(with.lost, without.lost, 0.001 * without.lost);
}

}  // namespace
}  // namespace trocar
