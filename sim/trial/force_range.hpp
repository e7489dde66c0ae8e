// How far the force of a tip on tissue can be trusted. A tip that presses a solid organ is corrected for what lies
// below the lattice by its dent (deform/solid/dent.hpp); how well its force then agrees with theory has been measured
// at places of a lattice cell: for balls against Hertz, for wire, blade and jaw against fine finite elements. This file
// holds the bounds of these measurements and applies them to an organ and a tip of a scene. Source: docs/results.md,
// "Touch at places of a cell"; Hertz' contact: Johnson, "Contact mechanics", 1985, chapter 4. Units: metres, newtons,
// pascals. Tested in tests/sim/trial/scene_trial_test.cpp
#pragma once

#include <optional>

#include "deform/tool_dents.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// The part of a tip that presses first.
enum class TipShape { Ball, Jaw, Wire, Blade };
TipShape tip_shape(InstrumentKind kind);

// Returns the force of a rigid ball pressed into a half-space, N. `modulus`: contact_modulus(), Pa.
double hertz_force(double modulus, double radius, double depth);

// Bounds of a force over its reference, 1: what was lowest and highest at all places that were measured.
struct ForceBounds {
  double low = 1.0, high = 1.0;
  // The largest deviation from 1.
  double error() const { return high - 1.0 > 1.0 - low ? high - 1.0 : 1.0 - low; }
};

// A solid organ as a tip meets it.
struct TouchedSolid {
  TissueLaw law = TissueLaw::Springs;
  double spacing = 0.008;  // m  of its lattice
  bool thick = true;       //    at least two cells where the tip presses; otherwise one to two
};

// Returns the bounds over Hertz' force of a ball pressed `depth` (m, up to its radius) into the organ; nothing where it
// has not been measured: a ball of less than a fifth of a cell or more than a cell, or a greater depth.
std::optional<ForceBounds> ball_bounds(const TouchedSolid& organ, double radius, double depth);

// The range of a ball in an organ.
struct BallRange {
  double close_depth = 0.0;  // m  up to here the force is within kCloseForce of Hertz'; 0: nowhere
  ForceBounds close;         // 1  up to there
  ForceBounds within;        // 1  up to the radius
};
constexpr double kCloseForce = 0.15;  // 1
std::optional<BallRange> ball_range(const TouchedSolid& organ, double radius);

// The range of wire, blade or jaw: bounds over the same press on fine finite elements of a neo-Hookean solid, at depths
// from half the radius of its edge on; the depth up to which they hold; and the reference's force there.
struct PartRange {
  ForceBounds within;
  double depth = 0.0, force = 0.0;  // m, N
};
// Nothing where it has not been measured: a ball, another size than that of a 5 mm instrument, another spacing than 5
// to 9 mm, or less than two cells. `modulus`: contact_modulus(), Pa.
std::optional<PartRange> part_range(TipShape shape, double shaft_radius, const TouchedSolid& organ, double modulus);

}  // namespace trocar
