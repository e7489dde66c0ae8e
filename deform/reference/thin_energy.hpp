// The energies of rods and sheets with gradient and curvature, in double, by automatic differentiation: the terms of
// the implicit reference solver. They share the models' data with the real-time step, and none of its formulas.
// Rod (rod.hpp): stretch of its edges; curvature and twist of its material frames at inner nodes. Sheet (sheet.hpp):
// the law of Blatz and Ko in three dimensions, with the thickness that leaves no stress across the sheet; and a plate
// whose curvature in a face is the boundary integral of its slopes (Gauss), which makes Morley's triangle.
// Not modelled: what the step does to faces that collapse or fold back on themselves (sheet.cpp).
// Units: metres, newtons, joules, radians.   Checked by finite differences, and against the forces of the step, in
// tests/deform/thin_reference_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/reference/energy.hpp"
#include "deform/thin/rod.hpp"
#include "deform/thin/sheet.hpp"

namespace trocar {

// Unknowns of a rod: [4 node + axis] m, [4 edge + 3] rad, the angle of the material axes. Unknowns of a sheet:
// [3 node + axis] m, [3 nodes + edge] rad by which a direction turns about its edge. Frames are those of a state
// `from`, carried to the unknowns without twist: no edge may turn by half a turn on its way.
std::vector<double> unknowns_of(const RodState& state);
std::vector<double> unknowns_of(const SheetState& state);
RodState state_at(const RodModel& model, const RodState& from, std::span<const double> unknowns);
SheetState state_at(const SheetModel& model, const SheetState& from, std::span<const double> unknowns);

struct ThinCurvature {
  std::uint32_t row, column;  // row >= column
  double value;               // J per square of an unknown
};

// The expansion of an energy at one state.
struct ThinExpansion {
  double energy = 0.0;                   // J
  std::vector<double> slope;             // [unknown] N or N m: minus the force
  std::vector<ThinCurvature> curvature;  // on and below the diagonal; entries may repeat
};

// Each function adds its part to `out`; `out.slope` must have one entry an unknown.
void add_elastic(const RodModel& model, const RodState& from, std::span<const double> unknowns, Curvature curvature,
                 ThinExpansion& out);
void add_elastic(const SheetModel& model, const SheetState& from, std::span<const double> unknowns, Curvature curvature,
                 ThinExpansion& out);

// A spring from a point of a rod to an anchor. The point moves with its edge as a rigid body.
struct RodSpring {
  std::uint32_t edge = 0;
  double share = 0.0;      // 1    along the edge
  glm::dvec3 arm{0.0};     // m    from the axis there to the point, along the tangent and both material axes
  glm::dvec3 anchor{0.0};  // m
  double stiffness = 0.0;  // N/m
};
void add_spring(const RodSpring& spring, const RodState& from, std::span<const double> unknowns, Curvature curvature,
                ThinExpansion& out);

// Pressure on the back of a sheet, minus its volume over the origin: an energy where all of its rim is fixed.
void add_pressure(const SheetModel& model, double pressure, std::span<const double> unknowns, Curvature curvature,
                  ThinExpansion& out);
// A spring, or a support without friction.
void add_spring(const SheetModel& model, const SheetSpring& spring, std::span<const double> unknowns,
                Curvature curvature, ThinExpansion& out);
void add_support(const SheetModel& model, const SheetSupport& support, std::span<const double> unknowns,
                 Curvature curvature, ThinExpansion& out);

}  // namespace trocar
