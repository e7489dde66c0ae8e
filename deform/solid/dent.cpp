#include "deform/solid/dent.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

using std::numbers::pi;

// Radii of the pressure over that of the contact. At the middle: of a ball, of a cylinder. As a mean over the pressure:
// of these and of a flat face.
constexpr double kBall = 4.0 / (3.0 * pi), kCylinder = 0.30326532985631671;
constexpr double kMeanBall = 5.0 / (3.0 * pi), kMeanCylinder = 0.38940039153570245, kMeanFlat = 0.5;
// Mean squares of the distance from the middle of the pressure, over the square of the contact's radius.
constexpr double kBallSquare = 0.4, kCylinderSquare = 0.25;
// Of a contact that the lattice answers itself, this share of the solid's response remains.
constexpr double kLeast = 0.02;
constexpr int kReachRounds = 12;
// Beyond the dent s0 at which its contact is as wide as the tool, a tool meets kDeep E* (s - s0)^2 more than in
// proportion. Fitted to balls on fine lattices, to a depth of four radii; a needle in a gel grows so too (Fakhouri,
// Hutchens, Crosby, Soft Matter 11, 2015).
constexpr double kDeep = 0.9;
// A line shorter than this share of the pressure's radius is a point.
constexpr double kShortLine = 0.05;
// The radius of a contact is found to this share of the tool's; slopes are differences over the second share of it.
constexpr double kClose = 1e-6, kDifference = 1e-4;
constexpr int kMostRounds = 60;

}  // namespace

double mean_over_line(double e, double length) {
  if (length < kShortLine * e) return 1.0 / std::sqrt(e * e + length * length / 6.0);
  const double s = std::sqrt(length * length + e * e);
  return 2.0 / length * (elementary::log((length + s) / e) - (s - e) / length);
}

namespace {

struct AtRadius {
  double force, shift, spread;
};

// Returns w = sqrt(e^2 + b^2), m. Newton's method in 1 / w, in which the mean is nearly linear.
double wide_of(double closeness, double length) {
  double w = 1.0 / closeness;
  if (!(length > 0.0)) return w;
  for (int round = 0; round < kReachRounds; ++round) {
    const double here = mean_over_line(w, length), further = mean_over_line((1.0 - kDifference) * w, length);
    const double inverse = 1.0 / w + (closeness - here) / (further - here) * kDifference / w;
    w = inverse > 0.2 / w ? 1.0 / inverse : 5.0 * w;
  }
  return w;
}

// The response of the lattice to a contact whose pressure has the radius e.
class LatticeResponse {
 public:
  explicit LatticeResponse(const DentPlace& p) : length_(p.length) {
    const double wide = wide_of(p.closeness, length_), spread = p.spread;
    square_ = wide * wide - spread * spread;
    excess_ = square_ > 0.0 ? 1.0 : p.closeness / mean_over_line(spread, length_);
  }
  double at(double e) const {
    return square_ > 0.0 ? mean_over_line(std::sqrt(e * e + square_), length_) : excess_ * mean_over_line(e, length_);
  }

 private:
  double length_, square_, excess_;
};

// The tool touches the lattice at points whose distance from the middle is `hollow` in the mean; on the solid at those
// of its pressure, which lie higher on the curve of the tool.
AtRadius at_radius(const DentPlace& p, const LatticeResponse& lattice, double a) {
  const double ball = 4.0 * a / 3.0, line = pi * p.length / 4.0, share = ball / (ball + line);
  const double force = p.modulus * a * a / p.radius * (ball + line), flat = 0.5 * kMeanFlat * p.width;
  const double middle = (kCylinder + (kBall - kCylinder) * share) * a + flat;
  const double e = (kMeanCylinder + (kMeanBall - kMeanCylinder) * share) * a + flat;
  const double square = (kCylinderSquare + (kBallSquare - kCylinderSquare) * share) * a * a;
  const double solid = mean_over_line(e, p.length);
  const double curve = std::max(1.0 - p.hollow / square, 0.0) * (mean_over_line(middle, p.length) - solid);
  const double missing = solid - lattice.at(e) + curve, least = kLeast * solid;
  return {force, force / (pi * p.modulus) * 0.5 * (missing + std::sqrt(missing * missing + least * least)), e};
}

// Returns the radius at which `value` is `wanted`, below that of the tool. Newton's method between bounds.
double find_radius(const DentPlace& p, const LatticeResponse& lattice, double wanted, double AtRadius::*value) {
  double low = 0.0, high = p.radius, a = 0.5 * high;
  for (int round = 0; round < kMostRounds; ++round) {
    const double here = at_radius(p, lattice, a).*value,
                 further = at_radius(p, lattice, (1.0 + kDifference) * a).*value;
    (here > wanted ? high : low) = a;
    double next = a - (here - wanted) * kDifference * a / (further - here);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - a) < kClose * p.radius) return next;
    a = next;
  }
  return a;
}

}  // namespace

DentForce dent_force(const DentPlace& place, double shift) {
  const LatticeResponse lattice(place);
  const AtRadius most = at_radius(place, lattice, place.radius);
  if (shift >= most.shift) {
    const double beyond = shift - most.shift, deep = kDeep * place.modulus;
    return {most.force / most.shift * shift + deep * beyond * beyond, most.force / most.shift + 2.0 * deep * beyond,
            most.spread};
  }
  if (!(shift > 0.0)) return {0.0, 0.0, 0.5 * kMeanFlat * place.width};
  const double a = find_radius(place, lattice, shift, &AtRadius::shift);
  const AtRadius here = at_radius(place, lattice, a), further = at_radius(place, lattice, (1.0 + kDifference) * a);
  return {here.force, (further.force - here.force) / (further.shift - here.shift), here.spread};
}

// Force over shift, by the trapezoidal rule in the radius of the contact.
double dent_energy(const DentPlace& place, double shift) {
  if (!(shift > 0.0)) return 0.0;
  const LatticeResponse lattice(place);
  const AtRadius most = at_radius(place, lattice, place.radius);
  const bool beyond = shift >= most.shift;
  const double a = beyond ? place.radius : find_radius(place, lattice, shift, &AtRadius::shift);
  constexpr int kPieces = 8;
  double energy = 0.0;
  AtRadius before{0.0, 0.0, 0.0};
  for (int k = 1; k <= kPieces; ++k) {
    const AtRadius here = at_radius(place, lattice, a * k / kPieces);
    energy += 0.5 * (before.force + here.force) * (here.shift - before.shift);
    before = here;
  }
  if (!beyond) return energy;
  const double more = shift - most.shift;
  return energy + 0.5 * most.force / most.shift * (shift * shift - most.shift * most.shift) +
         kDeep * place.modulus * more * more * more / 3.0;
}

double dent_shift(const DentPlace& place, double force) {
  const LatticeResponse lattice(place);
  const AtRadius most = at_radius(place, lattice, place.radius);
  if (force >= most.force) {
    const double more = force - most.force, firm = most.force / most.shift, deep = kDeep * place.modulus;
    return most.shift + 2.0 * more / (firm + std::sqrt(firm * firm + 4.0 * deep * more));
  }
  if (!(force > 0.0)) return 0.0;
  return at_radius(place, lattice, find_radius(place, lattice, force, &AtRadius::force)).shift;
}

}  // namespace trocar
