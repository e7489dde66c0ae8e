// Compares the felt force between frames with that of a linear wall, which is known everywhere: accuracy, smoothness,
// stability of a hand that presses against the wall. Tests old, lost and non-finite forces.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "geometry/error.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/device/haptics.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::haptics_test {
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

// Compares the contact model with its definition in sim/device/haptics.hpp, which this file implements in
// scalars: frames at random intervals, contacts that begin and end, random parameters.

namespace {

using glm::dvec3;

// The state of the definition; the names are the symbols of the definition.
struct Plane {
  bool contact = false;
  dvec3 x0{0.0}, n{0.0}, d{0.0};
  double F0 = 0.0, time = -1e9, T = 1.0 / 60.0, k = 0.0, A = 0.0, B = 0.0;
};

dvec3 plane_at(const ContactModelParams& p, const Plane& m, const dvec3& x) {
  if (!m.contact) return dvec3(0.0);
  const double size = m.F0 + m.k * glm::dot(m.x0 - x, m.n);
  return (size < 0.0 ? 0.0 : size > p.largest_force ? p.largest_force : size) * m.n;
}

double share_left(const ContactModelParams& p, const Plane& m, double age) {
  const double hold = p.hold_intervals * m.T > p.shortest_hold ? p.hold_intervals * m.T : p.shortest_hold;
  if (age <= hold) return 1.0;
  return age < hold + p.fade ? 1.0 - (age - hold) / p.fade : 0.0;
}

dvec3 felt_by_definition(const ContactModelParams& p, const Plane& m, const dvec3& x, double now) {
  const double age = now > m.time ? now - m.time : 0.0;
  dvec3 force = plane_at(p, m, x);
  if (age < m.T) force += (1.0 - age / m.T) * m.d;
  const double along = glm::dot(force, m.n);
  if (along < 0.0) force -= along * m.n;
  const double size = glm::length(force);
  if (size > p.largest_force) force *= p.largest_force / size;
  return share_left(p, m, age) * force;
}

Plane frame_by_definition(const ContactModelParams& p, const Plane& m, const dvec3& F1, const dvec3& x1, const dvec3& x,
                          double now) {
  Plane next = m;
  next.F0 = glm::length(F1);
  next.contact = next.F0 > 1e-6;
  if (!next.contact) next.F0 = 0.0;
  next.n = next.contact ? F1 / next.F0 : dvec3(0.0);
  if (next.contact) next.x0 = x1;
  if (m.contact && next.contact) {
    const double dF = glm::dot(F1 - m.F0 * m.n, next.n), dd = glm::dot(m.x0 - next.x0, next.n);
    next.A = p.forgetting * m.A + dF * dd;
    next.B = p.forgetting * m.B + dd * dd;
  }
  const double w2 = p.trusted_motion * p.trusted_motion;
  next.k = (next.A + w2 * p.start_stiffness) / (next.B + w2);
  next.k = next.k < p.least_stiffness      ? p.least_stiffness
           : next.k > p.greatest_stiffness ? p.greatest_stiffness
                                           : next.k;
  next.d = felt_by_definition(p, m, x, now) - plane_at(p, next, x);
  const double since = now - m.time;
  if (since >= 0.0 && since <= p.hold_intervals * p.longest_interval) {
    const double remembered = m.T * std::exp(-since);  // decays with a time constant of one second
    next.T = std::clamp(since > remembered ? since : remembered, 0.004, p.longest_interval);
  }
  next.time = now;
  return next;
}

struct Draw {
  std::mt19937 engine;
  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine()) / 4294967296.0);
  }
  dvec3 vector(double size) { return {between(-size, size), between(-size, size), between(-size, size)}; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[engine() % values.size()];
  }
};

ContactModelParams random_params(Draw& draw) {
  ContactModelParams p;
  p.start_stiffness = draw.between(50.0, 500.0);
  p.least_stiffness = draw.between(0.0, 40.0);
  p.greatest_stiffness = draw.between(600.0, 2000.0);
  p.forgetting = draw.between(0.0, 1.0);
  p.trusted_motion = draw.one_of({3e-5, 3e-4});
  p.hold_intervals = draw.between(1.0, 4.0);
  p.shortest_hold = draw.one_of({0.0, 0.05, 0.12});
  p.longest_interval = draw.between(0.1, 0.4);
  p.fade = draw.one_of({0.0, 0.02, 0.2});
  p.largest_force = draw.one_of({3.0, 10.0, 100.0});
  return p;
}

void expect_same(const Plane& wanted, const ContactModel& model) {
  EXPECT_NEAR(model.stiffness, wanted.k, 1e-4 * wanted.k);
  EXPECT_NEAR(model.interval, wanted.T, 1e-9);
  EXPECT_NEAR(model.pressure, wanted.F0, 1e-6);
  EXPECT_NEAR(glm::length(model.normal - wanted.n), 0.0, 1e-6);
  EXPECT_NEAR(glm::length(model.offset - wanted.d), 0.0, 1e-5);
}

TEST(ContactModelDefinition, FramesInAnyRhythm) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw{std::mt19937(seed)};
    const ContactModelParams p = random_params(draw);
    Plane wanted;
    ContactModel model;
    double now = draw.between(-1.0, 1.0);
    int contacts = 0;
    for (int frame = 0; frame < 100; ++frame) {
      now += draw.one_of({0.0, 0.002, 1.0 / 60.0, 1.0 / 60.0, 0.05, 0.1, 0.2, 0.35, 3.0, -0.01});
      const dvec3 tip = draw.vector(0.003), x = tip + draw.vector(0.0005);
      const glm::vec3 force(draw.one_of({0.0, 1e-8, 1.0, 1.0, 1.0, 4.0}) * (dvec3(0.3, 1.0, 0.2) + draw.vector(0.4)));
      contacts += glm::length(force) > 0.1f;
      model = updated(p, model, {force, tip, now}, x, now);
      wanted = frame_by_definition(p, wanted, dvec3(force), tip, x, now);
      expect_same(wanted, model);
      for (int tick = 0; tick < 10; ++tick) {
        const double at = now + draw.one_of({-0.01, 0.0, 0.003, 0.03, 0.1, 0.13, 0.4, 1.0}) + draw.between(0.0, 0.002);
        const dvec3 position = tip + draw.vector(0.004);
        ASSERT_NEAR(glm::length(felt_force(p, model, position, at) - felt_by_definition(p, wanted, position, at)), 0.0,
                    1e-5)
            << "frame " << frame;
      }
    }
    EXPECT_GT(contacts, 30);
  }
}

// Tests the values in docs/devices.md, which the stability tests of the hand use.
TEST(ContactModelDefinition, Defaults) {
  const ContactModelParams p;
  EXPECT_EQ(p.start_stiffness, 150.0);
  EXPECT_EQ(p.least_stiffness, 20.0);
  EXPECT_EQ(p.greatest_stiffness, 1200.0);
  EXPECT_EQ(p.forgetting, 0.8);
  EXPECT_EQ(p.trusted_motion, 3e-5);
  EXPECT_EQ(p.largest_force, 10.0);
  EXPECT_EQ(p.hold_intervals, 2.5);
  EXPECT_EQ(p.shortest_hold, 0.120);
  EXPECT_EQ(p.longest_interval, 0.250);
  EXPECT_EQ(p.fade, 0.020);
  EXPECT_EQ(ContactModel{}.interval, 1.0 / 60.0);
}

// Two frames are 1 mm and 0.5 N apart, which gives 500 N/m. The fit combines this with the start stiffness according to
// the trusted motion.
TEST(ContactModelDefinition, TwoFramesComputedByHand) {
  ContactModelParams p;
  p.trusted_motion = 5e-4;
  ContactModel model = updated(p, {}, {{0.f, 1.f, 0.f}, dvec3(0.0), 0.0}, dvec3(0.0), 1.0);
  model = updated(p, model, {{0.f, 1.5f, 0.f}, {0.0, -1e-3, 0.0}, 0.0}, {0.0, -1e-3, 0.0}, 1.02);
  // (0.5 * 1e-3 + 2.5e-7 * 150) / (1e-6 + 2.5e-7)
  EXPECT_NEAR(model.stiffness, 430.0, 1e-9);
  EXPECT_NEAR(model.interval, 0.02, 1e-12);
}

// After three seconds of frames at 1000 Hz, T is still 4 ms.
TEST(ContactModelDefinition, TheIntervalHasALowerLimit) {
  ContactModel model;
  for (int frame = 0; frame < 3000; ++frame) model = updated({}, model, {}, dvec3(0.0), 1e-3 * frame);
  EXPECT_EQ(model.interval, 0.004);
}

}  // namespace

// Compares the simulated hand with the closed form of its two modes and with ticks a hundred times finer. Tests the
// hand at its bound of stability, and pressed against a stiff wall whose contact model is updated 60 times a second.

namespace {

TEST(HandTick, SettlesWhereForceAndStiffnessBalance) {
  const HapticStubParams params;
  HapticState state;
  const glm::dvec3 target(0.01, 0, 0), force(0, -2.0, 0);
  for (int tick = 0; tick < 5000; ++tick) state = hand_tick(params, state, target, force, kTick);
  EXPECT_NEAR(state.tip.x, 0.01, 1e-9);
  EXPECT_NEAR(state.hand.y, -2.0 / params.stiffness, 1e-9);
  EXPECT_NEAR(state.tip.y, -2.0 / params.stiffness - 2.0 / params.grip_stiffness, 1e-9);
  EXPECT_NEAR(glm::length(state.velocity), 0.0, 1e-9);
}

TEST(HandTick, ForcesAreLimitedAndInvalidForcesAreZero) {
  const HapticStubParams params;
  EXPECT_NEAR(glm::length(hand_tick(params, {}, {}, {100, 0, 0}, kTick).felt_force), params.contact.largest_force,
              1e-12);
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)})
    EXPECT_EQ(hand_tick(params, {}, {}, {bad, 0, 0}, kTick).felt_force, glm::dvec3(0.0));
}

// With damping proportional to stiffness, hand and handle move in two modes with a closed form each.
struct TwoModes {
  static constexpr double kProportion = 0.004;  // s
  HapticStubParams params;
  double omega[2], share[2], handle[2];  // rad/s; fraction of the step; motion of the handle relative to the hand

  TwoModes() {
    params.damping = kProportion * params.stiffness;
    params.grip_damping = kProportion * params.grip_stiffness;
    const double a = (params.stiffness + params.grip_stiffness) / params.hand_mass,
                 d = params.grip_stiffness / params.handle_mass;
    const double product = params.stiffness * params.grip_stiffness / (params.hand_mass * params.handle_mass);
    const double root = std::sqrt(0.25 * (a + d) * (a + d) - product);
    for (int mode = 0; mode < 2; ++mode) {
      const double square = 0.5 * (a + d) + (mode == 0 ? -root : root);
      omega[mode] = std::sqrt(square);
      handle[mode] = (a - square) * params.hand_mass / params.grip_stiffness;
    }
    share[0] = (1.0 - handle[1]) / (handle[0] - handle[1]);
    share[1] = 1.0 - share[0];
  }
  // Returns the position of the handle at time t after the target steps from 0 to 1.
  double at(double t) const {
    double position = 1.0;
    for (int mode = 0; mode < 2; ++mode) {
      const double zeta = 0.5 * kProportion * omega[mode], damped = omega[mode] * std::sqrt(1.0 - zeta * zeta);
      position -= share[mode] * handle[mode] * std::exp(-zeta * omega[mode] * t) *
                  (std::cos(damped * t) + zeta * omega[mode] / damped * std::sin(damped * t));
    }
    return position;
  }
};

// Returns the largest difference between ticks and closed form, as a fraction of the step.
double step_error(double dt) {
  const TwoModes modes;
  HapticState state;
  double worst = 0.0;
  for (int tick = 1; tick * dt < 0.5; ++tick) {
    state = hand_tick(modes.params, state, {0.01, 0, 0}, glm::dvec3(0.0), dt);
    worst = std::max(worst, std::abs(state.tip.x / 0.01 - modes.at(tick * dt)));
  }
  return worst;
}

TEST(HandTick, FollowsTheClosedFormOfItsModes) {
  const double fine = step_error(1e-6), middle = step_error(1e-5), coarse = step_error(kTick);
  std::printf("error of the step response: %.5f %% at 1 us, %.4f %% at 10 us, %.2f %% at 1 ms\n", 1e2 * fine,
              1e2 * middle, 1e2 * coarse);
  EXPECT_LT(fine, 1e-4);
  EXPECT_NEAR(middle / fine, 10.0, 1.0);  // first order
  EXPECT_LT(coarse, 0.10);
}

// Compares the closed-form bound with ticks just below and just above it.
TEST(StableWall, IsTheBoundOfStability) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>()(random));
  };
  int tried = 0;
  while (tried < 40) {
    HapticStubParams params{between(0.02, 1.0), between(50, 3000), between(1, 30), between(0.01, 0.3),
                            between(100, 1e4),  between(0.5, 20),  1000.0,         {}};
    params.contact.largest_force = INFINITY;
    const double dt = between(2e-4, 8e-3), wall = stable_wall(params, dt);
    if (!(wall > 0.0)) continue;
    ++tried;
    for (const double share : {0.98, 1.02}) {
      HapticState state;
      state.hand = {1.0, 0, 0};
      // Largest motion in the third and in the last quarter: decaying motions have decayed by then.
      constexpr int kTicks = 40000;
      double third = 0.0, last = 0.0;
      for (int tick = 0; tick < kTicks && last < 1e12; ++tick) {
        state = hand_tick(params, state, glm::dvec3(0.0), -share * wall * state.tip, dt);
        const double size = std::abs(state.tip.x);
        if (tick >= kTicks / 2 && tick < 3 * kTicks / 4) third = std::max(third, size);
        if (tick >= 3 * kTicks / 4) last = std::max(last, size);
        if (size >= 1e12) last = INFINITY;  // has grown, in whichever quarter this is
      }
      EXPECT_EQ(last > third, share > 1.0) << "wall " << wall << " N/m, dt " << dt << " s";
    }
  }
}

TEST(StableWall, DefaultsAreStableAndFaultsAreSentences) {
  HapticStubParams params;
  std::printf("stable up to %.0f N/m at 1 kHz\n", stable_wall(params, kTick));
  EXPECT_GT(stable_wall(params, kTick), 10.0 * params.contact.greatest_stiffness);
  EXPECT_EQ(hand_fault(params), "");
  params.rate = 100.0;
  EXPECT_NE(hand_fault(params).find("raise its rate or masses"), std::string::npos) << hand_fault(params);
  for (double HapticStubParams::*const member :
       {&HapticStubParams::hand_mass, &HapticStubParams::handle_mass, &HapticStubParams::stiffness,
        &HapticStubParams::grip_stiffness, &HapticStubParams::damping, &HapticStubParams::rate})
    for (const double bad : {-1.0, std::nan("")}) {
      HapticStubParams faulty;
      faulty.*member = bad;
      EXPECT_NE(hand_fault(faulty), "");
    }
}

// Moves 12 mm into a wall within 0.3 s and stays there until 2 s. Frames update the contact model 60 times a second.
struct Pressed {
  std::vector<double> force;   // N  [ms]
  std::vector<double> energy;  // J  [ms]  above the energy at rest
  double jump = 0.0;           // N  between two ms, after the target has stopped
};

constexpr double kStands = 0.3;  // s

Pressed press(double stiffness, int ticks_per_ms) {
  const HapticStubParams params;
  const double chain = 1.0 / (1.0 / params.stiffness + 1.0 / params.grip_stiffness + 1.0 / stiffness);
  const double dt = kTick / ticks_per_ms;
  ContactModel contact;
  HapticState hand = at_rest({0, 0.002, 0});
  Pressed pressed;
  for (int ms = 0; ms < 2000; ++ms) {
    const auto wall = [&] { return std::max(0.0, -stiffness * hand.tip.y); };
    if (ms % 17 == 0)
      contact = updated(params.contact, contact, {{0.f, static_cast<float>(wall()), 0.f}, hand.tip, 0.0}, hand.tip,
                        ms * kTick);
    for (int k = 0; k < ticks_per_ms; ++k) {
      const double time = ms * kTick + k * dt;
      const glm::dvec3 target(0, 0.002 - 0.014 * std::min(time / kStands, 1.0), 0);
      hand = hand_tick(params, hand, target, felt_force(params.contact, contact, hand.tip, time), dt);
    }
    const double depth = std::max(0.0, -hand.tip.y);
    pressed.force.push_back(hand.felt_force.y);
    pressed.energy.push_back(hand_energy(params, hand, {0, -0.012, 0}) +
                             0.5 * (stiffness * depth * depth - chain * 0.012 * 0.012));
  }
  return pressed;
}

TEST(HandTick, ComesToRestAgainstAStiffWall) {
  for (const double stiffness : {150.0, 600.0, ContactModelParams{}.greatest_stiffness}) {
    const Pressed pressed = press(stiffness, 1), twin = press(stiffness, 100);
    double apart = 0.0, before = INFINITY;
    const double strongest = *std::max_element(pressed.force.begin(), pressed.force.end());
    for (std::size_t ms = 0; ms < pressed.force.size(); ++ms)
      apart = std::max(apart, std::abs(pressed.force[ms] - twin.force[ms]));
    // After the target has stopped: the greatest energy in each 0.1 s.
    for (auto ms = static_cast<std::ptrdiff_t>(kStands / kTick); ms < 2000; ms += 100) {
      const auto from = pressed.energy.begin() + ms;
      const double greatest = *std::max_element(from, from + 100);
      EXPECT_LE(greatest, before + 1e-9) << stiffness << " N/m at " << ms << " ms";
      before = greatest;
    }
    const HapticStubParams params;
    const double rest = 0.012 / (1.0 / params.stiffness + 1.0 / params.grip_stiffness + 1.0 / stiffness);
    std::printf("%.0f N/m: at most %.2f N, at rest %.3f N, finer ticks within %.3f N\n", stiffness, strongest,
                pressed.force.back(), apart);
    EXPECT_NEAR(pressed.force.back(), rest, 0.005 * rest);
    EXPECT_LT(strongest, 1.5 * rest);
    EXPECT_LT(apart, 0.05 * rest);
  }
}

}  // namespace

// Tests the thread of the haptic stub: rate, felt force between frames, old forces. haptics_test.cpp tests the
// simulated hand.

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The thread catches up on late ticks, so the mean rate over a period is exact. Only a delay of more than 0.1 s breaks
// this; the test then tries the next period.
TEST(HapticStub, TicksAThousandTimesASecond) {
  HapticStub stub({0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.005, 0, 0); });
  double nearest = 0.0;
  for (int attempt = 0; attempt < 10 && std::abs(nearest - 1000.0) > 20.0; ++attempt) {
    const std::uint64_t before = stub.state().ticks;
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const double rate = static_cast<double>(stub.state().ticks - before) / seconds_since(start);
    if (std::abs(rate - 1000.0) < std::abs(nearest - 1000.0)) nearest = rate;
  }
  std::printf("%.0f ticks per second\n", nearest);
  EXPECT_NEAR(nearest, 1000.0, 20.0);
  EXPECT_NEAR(stub.pose({}).tip.x, 0.005, 1e-3);
  EXPECT_EQ(stub.pose({}).pivot, glm::dvec3(0, 0, 0.2));
}

TEST(HapticStub, AnUnstableHandIsRefused) {
  HapticStubParams params;
  params.handle_mass = 1e-4;
  EXPECT_THROW(HapticStub(
                   {0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.0); }, params),
               InputError);
}

TEST(HapticStub, FeelsTheLatestFrameAndZeroAfterAStall) {
  HapticStub stub({0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.0); });
  bool felt = false;
  for (int frame = 0; frame < 20; ++frame) {
    stub.feel({{0, 1, 0}, stub.pose({}).tip, 0.0});
    std::this_thread::sleep_for(std::chrono::milliseconds(16));
    felt = felt || std::abs(stub.state().felt_force.y - 1.0) < 0.1;
  }
  EXPECT_TRUE(felt);
  // Waits for the longest hold and fade at any frame intervals, and one more tick.
  const ContactModelParams params;
  const double longest = params.hold_intervals * params.longest_interval + params.fade;
  const auto last = Clock::now();
  while (seconds_since(last) < longest + 0.010) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::uint64_t ticks = stub.state().ticks;
  while (stub.state().ticks == ticks) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(stub.state().felt_force, glm::dvec3(0.0));
}

// Tests a wall of 500 N/m below y = 0, sampled at 60 Hz: between frames the felt force is right to within 10 %.
TEST(HapticStub, FeelsAWallBetweenFrames) {
  constexpr double kWall = 500.0;  // N/m
  HapticStub stub({0, 0.2, 0}, {0, -0.002, 0},
                  [](double time) { return glm::dvec3(0, -0.010 - 0.005 * std::sin(6.0 * time), 0); });
  int near = 0, asked = 0;
  for (int frame = 0; frame < 60; ++frame) {
    const glm::dvec3 tip = stub.pose({}).tip;
    stub.feel({{0, static_cast<float>(std::max(0.0, -kWall * tip.y)), 0}, tip, 0.0});
    std::this_thread::sleep_for(std::chrono::milliseconds(16));
    if (frame < 20) continue;
    const HapticState now = stub.state();
    ++asked;
    if (std::abs(now.felt_force.y + kWall * now.tip.y) < 0.1 * std::abs(kWall * now.tip.y)) ++near;
  }
  EXPECT_GT(near, 0.8 * asked);
}

}  // namespace

// Tests the complete chain from tissue to haptic device: a liver is pressed at 60 frames per second, and the force is
// felt at 1 kHz between the frames.

namespace {

struct Felt1kHz {
  double jump = 0.0, against = 0.0, greatest = 0.0, last = 0.0;
};

// Moves 12 mm into the front of the liver at 20 mm/s, reverses within 0.1 s, and moves back.
double depth_at(double t) {
  const double half = 0.012 / 0.02, turn = 0.05;
  const double u = t < half ? t : std::max(2.0 * half - t, -1.0);
  const double s = std::max(u - (half - turn), 0.0);
  return 0.02 * (u - s * s / (2.0 * turn)) - 0.001;
}

Felt1kHz press_liver() {
  const TriangleMesh mesh = make_liver({});
  const Attachment back{{-0.06f, 0.12f, 0.06f}, 0.045f};
  TissueParams params;
  params.node_spacing = 0.009f;
  const TissueModel model = make_tissue(mesh.view(), params, {&back, 1});
  test::Press press{mesh, model};
  std::uint32_t front = 0;
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (mesh.positions[v].z > mesh.positions[front].z) front = v;
  const glm::dvec3 touch = glm::dvec3(mesh.positions[front]) + glm::dvec3(0.0, 0.0, 0.0025);
  const auto tip = [&](double t) { return touch - glm::dvec3(0.0, 0.0, depth_at(t)); };

  ContactModelParams haptics;
  ContactModel contact;
  Felt1kHz felt;
  double next_frame = kFrame;
  for (double t = kTick; t < 1.2; t += kTick) {
    if (t >= next_frame) {
      const ToolStep tool{touch + glm::dvec3(0.0, 0.0, 0.2), tip(next_frame - kFrame), tip(next_frame), 0.0025};
      const glm::vec3 force = press.frame(tool, static_cast<float>(kFrame));
      contact = updated(haptics, contact, {force, tip(next_frame), next_frame}, tip(t), t);
      next_frame += kFrame;
    }
    const double now = felt_force(haptics, contact, tip(t), t).z;
    felt.jump = std::max(felt.jump, std::abs(now - felt.last));
    felt.against = std::max(felt.against, t < 0.55 ? felt.last - now : t > 0.65 ? now - felt.last : 0.0);
    felt.greatest = std::max(felt.greatest, now);
    felt.last = now;
  }
  return felt;
}

TEST(HapticChain, TheForceOfALiverIsSmooth) {
  const Felt1kHz felt = press_liver();
  std::printf("greatest %.3f N, jump %.4f N, against the motion %.4f N, left %.4f N\n", felt.greatest, felt.jump,
              felt.against, felt.last);
  EXPECT_GT(felt.greatest, 0.2);
  EXPECT_LT(felt.jump, 0.1);
  EXPECT_LT(felt.against, 0.01);
  EXPECT_LT(felt.last, 0.01);
}

}  // namespace

// Tests the force at the tip against the lever rule, and against the principle of virtual work for random contacts.

namespace {

using glm::dvec3;
using test::Dice;

constexpr double kDepth = 0.2;  // m
const ToolPose kPose{{0.1, 0.0, 0.3}, {0.1, 0.0, 0.3 - kDepth}, 0.0025};

TipForce of_contact(const dvec3& point, const dvec3& force) {
  return tip_force(kPose, glm::vec3(force), glm::vec3(glm::cross(point - kPose.pivot, force)));
}

TEST(TipForce, ALever) {
  for (const double share : {0.1, 0.5, 1.0}) {
    const dvec3 on_shaft = kPose.pivot + share * (kPose.tip - kPose.pivot);
    const TipForce beside = of_contact(on_shaft, {2.0, -1.0, 0.0});
    EXPECT_LT(glm::distance(dvec3(beside.force), share * dvec3(2.0, -1.0, 0.0)), 1e-6);
    EXPECT_NEAR(beside.twist, 0.f, 1e-7f);
    const TipForce along = of_contact(on_shaft, {0.0, 0.0, 3.0});
    EXPECT_LT(glm::distance(dvec3(along.force), dvec3(0.0, 0.0, 3.0)), 1e-6);
  }
  // Seen from the trocar, with +x to the right and +y up, a force along -y on the right side turns the shaft clockwise.
  EXPECT_NEAR(of_contact(kPose.tip + dvec3(0.003, 0.0, 0.0), {0.0, -1.0, 0.0}).twist, 0.003f, 1e-6f);
  EXPECT_EQ(tip_force(kPose, glm::vec3(0.f), glm::vec3(0.f)).force, glm::vec3(0.f));
}

// In every motion of an instrument (it swings and spins by `turn` about the trocar and slides by `slide`) the contacts
// do the work that the force at the tip and the twist do.
TEST(TipForce, DoesTheWorkOfTheContacts) {
  Dice dice(417);
  std::printf("seed 417\n");
  for (int i = 0; i < 1000; ++i) {
    const dvec3 pivot = dice.in_cube(0.2), tip = pivot + dice.uniform(0.02, 0.3) * dice.direction();
    const dvec3 along = glm::normalize(tip - pivot), turn = dice.in_cube(1.0);
    const double slide = dice.uniform(-0.1, 0.1);
    dvec3 force(0.0), torque(0.0);
    double work = 0.0;
    for (int contact = 0; contact < 5; ++contact) {
      const dvec3 point = dice.in_cube(0.3), f = dice.in_cube(3.0);
      force += f, torque += glm::cross(point - pivot, f);
      work += glm::dot(f, glm::cross(turn, point - pivot) + slide * along);
    }
    const TipForce felt = tip_force({pivot, tip, 0.0025}, glm::vec3(force), glm::vec3(torque));
    const double same = glm::dot(dvec3(felt.force), glm::cross(turn, tip - pivot) + slide * along) +
                        static_cast<double>(felt.twist) * glm::dot(turn, along);
    EXPECT_NEAR(same, work, 1e-5);
  }
}

}  // namespace

}  // namespace trocar::haptics_test
