// Steps sheets among other organs. A sheet is light and stiff: it steps linearly implicitly (thin/sheet.hpp), a few
// times a frame instead of in every substep of the organs around it. In its step it takes all others as moving on with
// their present velocity, and yielding to its force by their inertia: organs it lies on are one-sided supports, fibres
// and jaws are springs, instruments are supports where they are at the end of the step. The force on another organ
// stays the same in all substeps of the sheet's step.
//   k' = k / (1 + k a dt^2 / theta)   stiffness of a support or fibre at an organ whose point there, under equal forces
//                                     at all points of the sheet on it, moves a per unit of push (1/kg)
// A support that yields by inertia alone would let a lasting load sink in; so each vertex keeps the part of its force
// that remains (SlabMotion::lean), which grows with the overlap. Units: metres, kilograms, seconds, newtons.   Tested
// in tests/deform/sheet_organ_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/join/bonds.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

// Substeps first .. last of a step's `count`, each of dt seconds.
struct SheetSpan {
  int first, last, count;
  float dt;  // s

  double seconds() const { return static_cast<double>(dt) * (last - first + 1); }
};

// Returns the substeps of a sheet's step that begins with substep `number`; their last is before it when that sheet's
// step has begun already.
SheetSpan sheet_span(int number, int count, float dt);

// Call at the beginning of a step, when the positions are split and contacts prepared.
void begin_sheet(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads);

// Finds the organs and fibres that act on the sheets among `sheets` in their next step.
void meet_neighbours(std::span<const std::size_t> sheets, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states, const SheetSpan& span, OrganContacts& contacts,
                     const Bonds& bonds);
void advance_sheet(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const SheetSpan& span);
// Finds the forces on the other organs.
void leave_neighbours(std::span<const std::size_t> sheets, std::span<const TissueModel* const> models,
                      std::span<SteppedTissue* const> states, const SheetSpan& span, OrganContacts& contacts,
                      const Bonds& bonds);
// Adds these forces to those of the next substep of the organs. Call in each.
void push_neighbours(std::span<const std::size_t> sheets, std::span<const TissueModel* const> models,
                     std::span<SteppedTissue* const> states);

}  // namespace trocar
