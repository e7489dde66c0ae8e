// Compares the contact model with its definition in sim/device/haptics.hpp, which this file implements in
// scalars: frames at random intervals, contacts that begin and end, random parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sim/device/haptics.hpp"

namespace trocar {
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
}  // namespace trocar
