// Impulses at contacts of thin tissue: non-penetration and Coulomb friction by Gauss-Seidel over 3 x 3 blocks, until a
// round changes hardly anything. The mobility of every contact under an impulse at every other comes from the factors
// of a step. Units: metres, seconds, newtons.   Tested through tests/deform/rod_test.cpp and
// tests/deform/sheet_test.cpp
#pragma once

#include <algorithm>
#include <glm/glm.hpp>
#include <span>

namespace trocar {

// A capsule that thin tissue does not enter, for instance an instrument's shaft.
struct ThinObstacle {
  glm::dvec3 from, to;                              // m, ends of the axis
  double radius;                                    // m
  glm::dvec3 from_velocity{0.0}, to_velocity{0.0};  // m/s
  double friction = 0.2;                            // 1
};

constexpr int kThinRounds = 30;  // at most
// A round that changes no impulse by more than this is the last one.
constexpr double kThinExact = 1e-5;  // of the largest impulse
// An overlap is taken back within this number of steps.
constexpr double kStepsBack = 4.0;

// Contact: has a unit `normal`, a `friction` coefficient, a `gap` (m) and an `impulse` (N s). `speed` follows every
// change of an impulse.
template <class Contact>
struct PushSolver {
  std::span<Contact> contacts;
  std::span<const glm::dmat3> mobility;  // [contact][contact] m/s of the first per N s on the second
  std::span<glm::dvec3> speed;           // [contact] m/s, against the obstacle
  std::span<glm::dvec3> impulses;        // [contact] N s

  const glm::dmat3& between(std::size_t i, std::size_t j) const { return mobility[i * contacts.size() + j]; }
  // Returns the size of the change, squared.
  double change(std::size_t i, const glm::dvec3& by) const {
    if (by == glm::dvec3(0.0)) return 0.0;
    impulses[i] += by;
    for (std::size_t j = 0; j < contacts.size(); ++j) speed[j] += between(j, i) * by;
    return glm::dot(by, by);
  }
  // Impulse per speed along `d`, kg.
  double resistance(std::size_t i, const glm::dvec3& d) const {
    const double m = glm::dot(d, between(i, i) * d);
    return m > 0.0 ? 1.0 / m : 0.0;
  }
  // `target`: the least speed along the normal, m/s.
  double press(std::size_t i, double target) const {
    const glm::dvec3& n = contacts[i].normal;
    const double before = glm::dot(impulses[i], n);
    const double now = std::max(before + (target - glm::dot(speed[i], n)) * resistance(i, n), 0.0);
    return change(i, (now - before) * n);
  }
  double rub(std::size_t i) const {
    const glm::dvec3& n = contacts[i].normal;
    const double pressed = glm::dot(impulses[i], n);
    const glm::dvec3 slip = speed[i] - glm::dot(speed[i], n) * n, before = impulses[i] - pressed * n;
    const double length = glm::length(slip);
    glm::dvec3 along = before;
    if (length > 0.0) along -= slip * resistance(i, slip / length);
    const double held = glm::length(along), most = contacts[i].friction * pressed;
    return change(i, (held > most ? along * (most / held) : along) - before);
  }

  // `each`: solves one contact and returns what it changed, squared.
  template <class Each>
  void rounds(Each each) const {
    for (int round = 0; round < kThinRounds; ++round) {
      double changed = 0.0, largest = 0.0;
      for (std::size_t i = 0; i < contacts.size(); ++i) {
        changed = std::max(changed, each(i));
        largest = std::max(largest, glm::dot(impulses[i], impulses[i]));
      }
      if (changed <= kThinExact * kThinExact * largest) return;
    }
  }

  // Finds the impulses that keep contacts from entering in a step of dt seconds, from those of the step before.
  void keep_out(double dt) const {
    for (std::size_t i = 0; i < contacts.size(); ++i) change(i, contacts[i].impulse);
    rounds([&](std::size_t i) {
      const double pressed = press(i, std::min(-contacts[i].gap / dt, 0.0));
      return std::max(pressed, rub(i));
    });
    for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i].impulse = impulses[i];
  }
  // Finds the impulses whose speeds take overlaps back, without friction; they begin with 0.
  void take_back(double dt) const {
    std::fill(impulses.begin(), impulses.end(), glm::dvec3(0.0));
    std::fill(speed.begin(), speed.end(), glm::dvec3(0.0));
    rounds([&](std::size_t i) { return contacts[i].gap < 0.0 ? press(i, -contacts[i].gap / (kStepsBack * dt)) : 0.0; });
  }
};

}  // namespace trocar
