// Compares the felt force between frames with that of a linear wall, which is known everywhere: accuracy, smoothness,
// stability of a hand that presses against the wall. Tests old, lost and non-finite forces.
#include "sim/device/haptics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace trocar {
namespace {

constexpr double kTick = 1e-3;         // s
constexpr double kFrame = 1.0 / 60.0;  // s
constexpr double kFrameDelay = 0.008;  // s    from the pose that a frame reads to its force
constexpr double kLargestJump = 0.1;   // N    between ticks
const glm::dvec3 kUp = glm::normalize(glm::dvec3(0.3, 1.0, -0.2));

// Elastic half-space below the plane through the origin.
struct Wall {
  double stiffness;  // N/m
  glm::dvec3 force(const glm::dvec3& tip) const { return std::max(0.0, -stiffness * glm::dot(tip, kUp)) * kUp; }
};

// A frame reads the tip and gives the force of the wall after a delay.
class FrameLoop {
 public:
  FrameLoop(const Wall& wall, const ContactModelParams& params, double frame = kFrame)
      : wall_(wall), params_(params), frame_(frame) {}

  glm::dvec3 tick(const glm::dvec3& tip, double time) {
    if (time >= next_read_) {
      read_ = {glm::vec3(wall_.force(tip)), tip, time};
      next_answer_ = time + kFrameDelay;
      next_read_ += frame_;
    }
    if (time >= next_answer_) {
      model_ = updated(params_, model_, read_, tip, time);
      next_answer_ = INFINITY;
    }
    return felt_force(params_, model_, tip, time);
  }
  const ContactModel& model() const { return model_; }
  void set_frame(double frame) { frame_ = frame; }

 private:
  Wall wall_;
  ContactModelParams params_;
  double frame_;  // s
  ContactModel model_;
  Felt read_;
  double next_read_ = 0.0, next_answer_ = INFINITY;
};

// Returns the depth of a tip that moves at up to `speed` around `middle`.
double swing(double middle, double reach, double speed, double time) {
  return middle + reach * std::sin(speed / reach * time);
}

class AgainstWall : public testing::TestWithParam<double> {};

TEST_P(AgainstWall, TheFeltForceIsTheForceOfTheWall) {
  const Wall wall{GetParam()};
  FrameLoop loop(wall, {});
  double worst = 0.0, strongest = 0.0;
  for (double time = 0.0; time < 3.0; time += kTick) {
    const glm::dvec3 tip = -swing(0.004, 0.003, 0.020, time) * kUp;
    const glm::dvec3 felt = loop.tick(tip, time), real = wall.force(tip);
    strongest = std::max(strongest, glm::length(real));
    if (time > 0.25) worst = std::max(worst, glm::length(felt - real));
  }
  EXPECT_NEAR(loop.model().stiffness / wall.stiffness, 1.0, 0.02);
  EXPECT_LT(worst, 0.02 * strongest);
  std::printf("wall of %.0f N/m: error of the felt force %.3f %% of the greatest force\n", wall.stiffness,
              100.0 * worst / strongest);
}

// The tip moves into the wall and out at 20 mm/s: consecutive ticks differ by less than 0.1 N.
TEST_P(AgainstWall, NoJumpsGoingInAndOut) {
  FrameLoop loop({GetParam()}, {});
  glm::dvec3 before(0.0);
  double jump = 0.0, strongest = 0.0;
  for (double time = 0.0; time < 5.0; time += kTick) {
    const glm::dvec3 felt = loop.tick(-swing(-0.0005, 0.004, 0.020, time) * kUp, time);
    jump = std::max(jump, glm::length(felt - before));
    strongest = std::max(strongest, glm::length(felt));
    EXPECT_GE(glm::dot(felt, kUp), -1e-12);
    before = felt;
  }
  std::printf("wall of %.0f N/m, 20 mm/s: largest jump between ticks %.4f N\n", GetParam(), jump);
  EXPECT_LT(jump, kLargestJump);
  EXPECT_GT(strongest, 0.8 * GetParam() * 0.0035);
}

// A hand pushes into the wall and then swings freely: the total energy of hand and wall only decreases.
TEST_P(AgainstWall, HandComesToRest) {
  const Wall wall{GetParam()};
  const HapticStubParams params;
  FrameLoop loop(wall, params.contact);
  const glm::dvec3 target = -0.010 * kUp;
  HapticState hand = at_rest(0.010 * kUp);
  const double chain = 1.0 / (1.0 / params.stiffness + 1.0 / params.grip_stiffness + 1.0 / wall.stiffness);
  const auto energy = [&] {
    const double depth = std::max(0.0, -glm::dot(hand.tip, kUp));
    return hand_energy(params, hand, target) + 0.5 * (wall.stiffness * depth * depth - chain * 1e-4);
  };
  const double start = energy();
  double peak = start, latest = 0.0;
  for (int period = 0; period < 15; ++period) {
    latest = 0.0;
    for (int tick = 0; tick < 200; ++tick) {
      const double time = (200 * period + tick) * kTick;
      hand = hand_tick(params, hand, target, loop.tick(hand.tip, time), kTick);
      latest = std::max(latest, energy());
    }
    EXPECT_LE(latest, std::max(peak, 1e-6 * start)) << "after " << 0.2 * period << " s";
    peak = latest;
  }
  EXPECT_LT(latest, 1e-4 * start);
  const double rest = chain / wall.stiffness * 0.010;
  EXPECT_NEAR(-glm::dot(hand.tip, kUp), rest, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Stiffness, AgainstWall, testing::Values(100.0, 300.0, 1000.0, 1200.0));

// Without a local model, when the force is held constant between frames, a stiff wall makes the hand oscillate.
TEST(ContactModel, AHeldForceWouldMakeTheHandOscillate) {
  const Wall wall{1000.0};
  const HapticStubParams params;
  const glm::dvec3 target = -0.010 * kUp;
  for (const bool modelled : {false, true}) {
    FrameLoop loop(wall, params.contact);
    HapticState hand = at_rest(0.010 * kUp);
    glm::dvec3 read(0.0), held(0.0);
    double late = 0.0;
    for (int tick = 0; tick < 5000; ++tick) {
      if (tick % 17 == 0) read = wall.force(hand.tip);
      if (tick % 17 == 8) held = read;
      const glm::dvec3 force = loop.tick(hand.tip, tick * kTick);
      hand = hand_tick(params, hand, target, modelled ? force : held, kTick);
      if (tick > 4000) late = std::max(late, glm::length(hand.velocity));
    }
    EXPECT_EQ(late < 1e-4, modelled) << late << " m/s";
  }
}

class AtFrameRate : public testing::TestWithParam<double> {};

// At a constant depth in the wall the force is constant, at increasing depth it only increases: it does not pulse with
// the frames.
TEST_P(AtFrameRate, AHeldForceDoesNotPulse) {
  for (const double speed : {0.0, 0.002}) {
    FrameLoop loop({300.0}, {}, 1.0 / GetParam());
    double greatest = 0.0, dip = 0.0;
    for (int tick = 0; tick < 4000; ++tick) {
      const double time = tick * kTick;
      const double felt = glm::length(loop.tick(-(0.004 + speed * time) * kUp, time));
      if (time < 1.0) continue;
      greatest = std::max(greatest, felt);
      dip = std::max(dip, 1.0 - felt / greatest);
    }
    std::printf("%.0f frames a second, %.0f mm/s: greatest dip %.2f %%\n", GetParam(), 1e3 * speed, 100.0 * dip);
    EXPECT_GT(greatest, 1.0);
    EXPECT_LT(dip, 0.05);
  }
}

// Frames that arrive in bursts, as when a slow picture takes several ticks, count as one interval.
TEST_P(AtFrameRate, BurstsOfTicksDoNotPulse) {
  const Wall wall{300.0};
  ContactModel model;
  double greatest = 0.0, dip = 0.0, jump = 0.0, before = 0.0;
  int picture = 0;
  for (int tick = 0; tick < 4000; ++tick) {
    const double time = tick * kTick, depth = 0.004 + 0.002 * std::sin(2.0 * time);
    const glm::dvec3 tip = -depth * kUp;
    if (time * GetParam() >= picture) {
      ++picture;
      for (int k = 0; k < 3; ++k) model = updated({}, model, {glm::vec3(wall.force(tip)), tip, time}, tip, time);
    }
    const double felt = glm::length(felt_force({}, model, tip, time)), real = glm::length(wall.force(tip));
    if (time > 1.0) {
      greatest = std::max(greatest, felt);
      dip = std::max(dip, std::abs(felt - real) / real);
      jump = std::max(jump, std::abs(felt - before));
    }
    before = felt;
  }
  EXPECT_LT(dip, 0.05);
  EXPECT_LT(jump, kLargestJump);
}

// When no more frames arrive, the force decreases continuously to zero and stays zero.
TEST_P(AtFrameRate, ARealStallFadesToZero) {
  FrameLoop loop({300.0}, {}, 1.0 / GetParam());
  const glm::dvec3 tip = -0.004 * kUp;
  double before = 0.0, time = 0.0;
  for (; time < 2.0; time += kTick) before = glm::length(loop.tick(tip, time));
  EXPECT_NEAR(before, 1.2, 0.05);
  loop.set_frame(INFINITY);
  double faded = 0.0;
  for (const double stop = time + 1.2; time < stop; time += kTick) {
    const double felt = glm::length(loop.tick(tip, time));
    EXPECT_LE(felt, before + 1e-9);
    EXPECT_LT(before - felt, kLargestJump);
    if (felt > 0.0) faded = time;
    before = felt;
  }
  EXPECT_EQ(before, 0.0);
  std::printf("%.0f frames a second: zero %.0f ms after the stall\n", GetParam(), 1e3 * (faded - 2.0));
}

// A hand that pushes into an organ of 300 N/m at this frame rate does not oscillate.
TEST_P(AtFrameRate, AHandComesToRest) {
  const HapticStubParams params;
  FrameLoop loop({300.0}, params.contact, 1.0 / GetParam());
  HapticState hand = at_rest(0.010 * kUp);
  double late = 0.0;
  for (int tick = 0; tick < 8000; ++tick) {
    hand = hand_tick(params, hand, -0.010 * kUp, loop.tick(hand.tip, tick * kTick), kTick);
    if (tick > 7000) late = std::max(late, glm::length(hand.velocity));
  }
  std::printf("%.0f frames a second: the hand moves at %.3f mm/s at the end\n", GetParam(), 1e3 * late);
  EXPECT_LT(late, 1e-3);
  EXPECT_LT(glm::dot(hand.tip, kUp), 0.0);
}

INSTANTIATE_TEST_SUITE_P(Rate, AtFrameRate, testing::Values(60.0, 20.0, 10.0, 5.0));

// The machine becomes slower during a contact, and fast again: no pulse down to ten frames per second.
TEST(ContactModel, AChangeOfTheFrameRateDoesNotPulse) {
  FrameLoop loop({300.0}, {});
  double least = INFINITY;
  for (int tick = 0; tick < 6000; ++tick) {
    loop.set_frame(tick < 2000 ? kFrame : tick < 4000 ? 0.1 : kFrame);
    const double felt = glm::length(loop.tick(-0.004 * kUp, tick * kTick));
    if (tick > 1000) least = std::min(least, felt);
  }
  EXPECT_GT(least, 1.14);
}

ContactModel pressed(const ContactModelParams& params, float force) {
  ContactModel model;
  for (int frame = 0; frame < 10; ++frame)
    model = updated(params, model, {{0.f, force, 0.f}, glm::dvec3(0.0), 0.0}, glm::dvec3(0.0), frame * kFrame);
  return model;
}

TEST(ContactModel, OldForcesFadeContinuously) {
  const ContactModelParams params;
  const ContactModel model = pressed(params, 2.f);
  double before = 2.0;
  const double end = hold_time(params, model) + params.fade;
  for (int tick = 1; tick <= 200; ++tick) {
    const double age = tick * kTick, felt = felt_force(params, model, glm::dvec3(0.0), model.time + age).y;
    EXPECT_LE(before - felt, kLargestJump + 1e-9);
    const double left = std::clamp((end - age) / params.fade, 0.0, 1.0);
    EXPECT_NEAR(felt, 2.0 * left, 1e-6);
    before = felt;
  }
}

TEST(ContactModel, ALostContactFadesWithinAFrame) {
  const ContactModelParams params;
  ContactModel model = pressed(params, 1.f);
  const double time = model.time + kFrame;
  model = updated(params, model, {}, glm::dvec3(0.0), time);
  EXPECT_NEAR(felt_force(params, model, glm::dvec3(0.0), time).y, 1.0, 1e-6);
  double before = 1.0;
  for (int tick = 1; tick < 20; ++tick) {
    const double felt = felt_force(params, model, glm::dvec3(0.0), time + tick * kTick).y;
    EXPECT_LT(std::abs(before - felt), kLargestJump);
    before = felt;
  }
  EXPECT_EQ(before, 0.0);
}

// The tip is never pulled back, however far it leaves the plane.
TEST(ContactModel, NeverPullsAndStaysWithinItsLimit) {
  const ContactModelParams params;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  ContactModel model;
  const auto vector = [&](double size) { return size * glm::dvec3(normal(random), normal(random), normal(random)); };
  for (int frame = 0; frame < 2000; ++frame) {
    const double now = frame * kFrame;
    const glm::vec3 force = frame % 5 == 0 ? glm::vec3(0.f) : glm::vec3(vector(3.0));
    model = updated(params, model, {force, vector(0.01), now}, vector(0.01), now);
    EXPECT_GE(model.stiffness, params.least_stiffness);
    EXPECT_LE(model.stiffness, params.greatest_stiffness);
    for (int tick = 0; tick < 17; ++tick) {
      const glm::dvec3 felt = felt_force(params, model, vector(0.05), now + tick * kTick);
      ASSERT_LE(glm::length(felt), params.largest_force * (1.0 + 1e-12)) << "seed 7, frame " << frame;
      ASSERT_GE(glm::dot(felt, model.normal), -1e-9) << "seed 7, frame " << frame;
    }
  }
}

TEST(ContactModel, NonFiniteInputCountsAsNoContact) {
  const ContactModelParams params;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const float nanf = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const glm::dvec3 here(0.0);
  for (const Felt& felt : {Felt{{0.f, nanf, 0.f}, here, 0.0}, Felt{{inf, 0.f, 0.f}, here, 0.0},
                           Felt{{0.f, 1.f, 0.f}, {0.0, nan, 0.0}, 0.0}, Felt{}}) {
    EXPECT_EQ(felt_force(params, updated(params, {}, felt, here, 1.0), here, 1.001), glm::dvec3(0.0));
    const ContactModel after = updated(params, pressed(params, 1.f), felt, here, 10 * kFrame);
    EXPECT_TRUE(std::isfinite(after.stiffness));
    EXPECT_EQ(felt_force(params, after, here, 11.1 * kFrame), glm::dvec3(0.0));
  }
  const ContactModel model = pressed(params, 1.f);
  EXPECT_EQ(felt_force(params, model, {nan, 0.0, 0.0}, model.time), glm::dvec3(0.0));
  EXPECT_EQ(felt_force(params, model, here, nan), glm::dvec3(0.0));
  EXPECT_EQ(felt_force(params, {}, here, 0.0), glm::dvec3(0.0));
  const ContactModel lost = updated(params, model, {{0.f, 1.f, 0.f}, here, 0.0}, {nan, nan, nan}, model.time + kFrame);
  EXPECT_NEAR(felt_force(params, lost, here, lost.time).y, 1.0, 1e-6);
}

TEST(ContactModel, TheStiffnessStartsAtItsParameterAndStaysInBounds) {
  const ContactModelParams params;
  const glm::dvec3 here(0.0);
  ContactModel model = updated(params, {}, {{0.f, 1.f, 0.f}, here, 0.0}, here, 0.0);
  EXPECT_DOUBLE_EQ(model.stiffness, params.start_stiffness);
  // Frames at the same depth do not change the stiffness.
  model = updated(params, model, {{0.f, 1.3f, 0.f}, here, 0.0}, here, kFrame);
  EXPECT_DOUBLE_EQ(model.stiffness, params.start_stiffness);
  // A force that decreases with depth would give a negative stiffness.
  model = updated(params, model, {{0.f, 0.5f, 0.f}, {0.0, -0.001, 0.0}, 0.0}, here, 2 * kFrame);
  EXPECT_DOUBLE_EQ(model.stiffness, params.least_stiffness);
}

}  // namespace
}  // namespace trocar
