// The dent that a tool makes in tissue below the scale of the lattice. A point load moves a lattice of spacing h as a
// load spread over a cell moves the solid, so a tip smaller than a cell feels the lattice and not the tissue. The dent
// is what is missing: the surface yields to the tool by the response of a half-space to the pressure of the contact,
// less the response of the lattice at the same place,
//   shift = F / (pi E*) (g(e) - C),      E* = E / (1 - nu^2),
// where g(e) is the mean of 1 / sqrt(r^2 + e^2) over pairs of points of the contact, a line of length l: 1 / e for a
// point (Boussinesq); and C is the response of the lattice, times pi E*. The radius e of the pressure follows from that
// of the contact, a, which the force makes:
//   F = E* a^2 / R (4 a / 3 + pi l / 4)      a ball (Hertz: l = 0) or cylinder (a^2 = 4 F R / (pi E* l)) of radius R
//   e = 5 / (3 pi) a for a ball, exp(-1/4) a / 2 for a cylinder: the means of their depths over the pressure; at the
//   middle it is 4 / (3 pi) a and exp(-1/2) a / 2.
// C is measured at one force and e; at others it is g(sqrt(e^2 + b^2)) with the b that gives C there. In Fourier terms
// 1 / r - 1 / sqrt(r^2 + b^2) is 2 pi (1 - exp(-b k)) / k: never negative, so the dent stores energy, and it vanishes
// with b. Where C exceeds g, a small dent remains.
//   The dent is one displacement of the tool against the surface. The contacts of the lattice see the tool shifted by
// it (deform/tool_dents.hpp).
// Sources: Johnson, "Contact mechanics", 1985, chapters 3 and 4. Units: metres, seconds, newtons, pascals.
// Tested in tests/deform/dent_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

// Where and how a tool touches tissue, as its contacts show it.
struct DentPlace {
  float radius = 0.f;     // m    of the tool's ball, > 0
  float length = 0.f;     // m    of the contact, without the ball
  float width = 0.f;      // m    likewise, across; <= length
  float closeness = 0.f;  // 1/m  the lattice moves by closeness / (pi E*) under a unit force on the contact, > 0
  float spread = 0.f;     // m    e at that time, >= 0
  // m^2  mean square of the distance, across the push, of the points that press it from the tool's axis or polytope
  float hollow = 0.f;
  float modulus = 0.f;  // Pa   E*
};

// The dent of one tool in one organ. It passes from step to step.
struct Dent {
  glm::vec3 shift{0.f}, speed{0.f};  // m, m/s  of the surface that contacts see, against the tool
  // Of the place, smoothed in time.
  float radius = 0.f, length = 0.f, width = 0.f, closeness = 0.f, spread = 0.f, hollow = 0.f;  // m, m, m, 1/m, m, m^2
  float held = 0.f;  // s  how long the tool has touched; 0: it does not
  float owes = 0.f;  // J  what the dent has gained because its place has changed
  bool operator==(const Dent&) const = default;
};

// The force on the tool, N, that a dent of `shift` (m, >= 0) needs, its derivative, N/m, and the radius e, m.
struct DentForce {
  double force, stiffness, spread;
};
DentForce dent_force(const DentPlace& place, double shift);

// Returns the energy of a dent of this shift (m), J.
double dent_energy(const DentPlace& place, double shift);

// Returns the mean of 1 / sqrt(r^2 + e^2) over all pairs of points of a line of this length, 1/m.
double mean_over_line(double e, double length);

// Returns the shift under a force, m: the inverse of dent_force.
double dent_shift(const DentPlace& place, double force);

}  // namespace trocar
