// Tests sources of blood and bile against closed forms: degenerate sources first, the integral of the flow for any
// length of step, what stops a source, and that no bile is lost or made.
#include "deform/fluid/bleeding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trocar {
namespace {

BleedSource blood(double rate, double half_time) {
  return {0, 0, BleedKind::Surface, BleedState::Flows, rate, half_time, 0.0};
}
BleedSource bile(double rate) { return {0, 0, BleedKind::Perforation, BleedState::Flows, rate, 0.0, 0.0}; }

TEST(Bleeding, DegenerateSourcesLoseNothing) {
  double left = 0.0;
  BleedSource none = blood(0.0, 60.0);
  EXPECT_EQ(bleed(none, {}, 1.0, left), 0.0);
  BleedSource no_time = blood(1e-6, 60.0);
  EXPECT_EQ(bleed(no_time, {}, 0.0, left), 0.0);
  EXPECT_EQ(no_time.state, BleedState::Flows);
  BleedSource empty = bile(1e-6);
  EXPECT_EQ(bleed(empty, {}, 1.0, left), 0.0);
  EXPECT_EQ(empty.state, BleedState::Stopped);
  EXPECT_EQ(left, 0.0);
  BleedSource done = blood(1e-6, 60.0);
  done.state = BleedState::Coagulated;
  EXPECT_EQ(bleed(done, {}, 1.0, left), 0.0);
}

// The loss up to time t is rate tau (1 - exp(-t / tau)) with tau = half time / ln 2, in steps of any length.
TEST(Bleeding, TheLossIsTheIntegralOfTheFlow) {
  constexpr std::uint32_t kSeed = 3;
  std::mt19937 random(kSeed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * double(random()) / 4294967296.0; };
  for (int k = 0; k < 50; ++k) {
    BleedSource source = blood(uniform(1e-9, 1e-6), uniform(5.0, 500.0));
    const double tau = source.half_time / std::log(2.0), rate = source.rate,
                 until = uniform(0.1, 4.0) * source.half_time;
    double lost = 0.0, time = 0.0, left = 0.0;
    while (time < until) {
      const double dt = std::min(uniform(0.001, 0.3), until - time);
      lost += bleed(source, {}, dt, left);
      time += dt;
    }
    EXPECT_NEAR(lost / (rate * tau * (1.0 - std::exp(-until / tau))), 1.0, 1e-10)
        << "seed " << kSeed << ", source " << k;
    EXPECT_NEAR(flow_of(source) / (rate * std::exp(-until / tau)), 1.0, 1e-10);
  }
}

TEST(Bleeding, WithoutClottingTheFlowIsEven) {
  BleedSource source = blood(2e-6, 0.0);
  double lost = 0.0, left = 0.0;
  for (int k = 0; k < 100; ++k) lost += bleed(source, {}, 0.5, left);
  EXPECT_NEAR(lost, 100e-6, 1e-16);
  EXPECT_EQ(source.state, BleedState::Flows);
}

// The flow ends when 1/64 of it is left, after six half times.
TEST(Bleeding, AClottedSourceStops) {
  BleedSource source = blood(1e-6, 10.0);
  double left = 0.0, time = 0.0;
  for (; !source.done() && time < 100.0; time += 0.1) bleed(source, {}, 0.1, left);
  EXPECT_EQ(source.state, BleedState::Stopped);
  EXPECT_NEAR(time, 60.0, 0.2);
  EXPECT_EQ(flow_of(source), 0.0);
}

TEST(Bleeding, PressureStopsASourceAndItClotsFaster) {
  BleedSource source = blood(1e-6, 10.0);
  double left = 0.0;
  EXPECT_EQ(bleed(source, {false, false, true}, 5.0, left), 0.0);
  EXPECT_EQ(source.state, BleedState::Pressed);
  bleed(source, {}, 1e-9, left);
  EXPECT_EQ(source.state, BleedState::Flows);
  EXPECT_NEAR(flow_of(source), 1e-6 / std::exp2(kPressedClotting * 0.5), 1e-15);
}

TEST(Bleeding, AClipStopsASourceAsLongAsItHolds) {
  BleedSource source = blood(1e-6, 10.0);
  double left = 0.0;
  EXPECT_EQ(bleed(source, {false, true, false}, 100.0, left), 0.0);
  EXPECT_EQ(source.state, BleedState::Closed);
  bleed(source, {}, 1e-9, left);
  EXPECT_NEAR(flow_of(source), 1e-6, 1e-15) << "the clip came off";
}

TEST(Bleeding, CoagulationStopsBloodForGoodAndNotBile) {
  double left = 1.0;
  BleedSource vessel = blood(1e-6, 10.0), hole = bile(1e-6);
  for (BleedSource* source : {&vessel, &hole}) bleed(*source, {true, false, false}, 1.0, left);
  EXPECT_EQ(vessel.state, BleedState::Coagulated);
  EXPECT_EQ(bleed(vessel, {}, 1.0, left), 0.0);
  EXPECT_EQ(hole.state, BleedState::Flows);
}

// Two holes share one content; the bile that flows out and the remaining bile make up the content.
TEST(Bleeding, BileFlowsUntilItsOrganIsEmpty) {
  constexpr double kContent = 30e-6;
  BleedSource first = bile(1e-6), second = bile(2e-6);
  double left = kContent, lost = 0.0, time = 0.0;
  for (; !(first.done() && second.done()) && time < 100.0; time += 0.01) {
    lost += bleed(first, {}, 0.01, left);
    lost += bleed(second, {}, 0.01, left);
    EXPECT_NEAR(lost + left, kContent, 1e-16);
  }
  EXPECT_EQ(left, 0.0);
  EXPECT_NEAR(lost, kContent, 1e-16);
  EXPECT_NEAR(time, 10.0, 0.03);
}

}  // namespace
}  // namespace trocar
