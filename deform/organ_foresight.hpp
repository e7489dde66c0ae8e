// Computes the look-ahead distance of contacts between organs, for the search and for the boxes that exclude pairs from
// the search. Units: metres, seconds.
#pragma once

namespace trocar {

// A contact within this distance stays in the list, because forces may close the gap within a step.
constexpr float kOrganReach = 2e-3f;  // m

// Speeds may grow within a step: the look-ahead distance uses this multiple of the present speed.
constexpr float kSpeedReserve = 2.f;

// Returns the distance, m, within which contacts are searched when organs approach at `speed`.
inline float contact_foresight(float speed, float dt) { return kOrganReach + kSpeedReserve * dt * speed; }

}  // namespace trocar
