// Finds what still holds organs that hang together. A part of an organ is held when it is fixed or tethered, or when
// intact fibres lead from it, over other parts if need be, to a part that is held or to the abdominal wall. A part that
// nothing holds falls: it gets the gravity of loose parts.
// Tested in tests/deform/hanging_test.cpp
#pragma once

#include <span>

#include "deform/cut/sculpt.hpp"
#include "deform/join/bonds.hpp"

namespace trocar {

// `sculpture` may be null: an organ that no instrument can cut is one part, and it does not fall.
struct HangingOrgan {
  Sculpture* sculpture;
  TissueModel* model;
};

// Marks the nodes that intact fibres hold (TissueModel::bonded). Call before a cut, which lets parts without a held
// node fall, and when fibres have broken.
void mark_bonded(std::span<const HangingOrgan> organs, const Bonds& bonds);

// Says of every organ that fibres hold that something has held it: it falls once nothing does. Call once, with all
// fibres intact; an organ that was never held stays where its largest part is.
void expect_to_hang(std::span<const HangingOrgan> organs);

// Lets the parts fall that nothing holds any more. Call after mark_bonded when fibres have broken or tissue has parted.
void release_unheld(std::span<const HangingOrgan> organs, const Bonds& bonds);

}  // namespace trocar
