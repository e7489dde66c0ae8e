// How far contacts between organs look ahead: shared by the search and by the boxes that say who need not search.
// Units: metres, seconds.
#pragma once

namespace trocar {

// A contact stays in the list while it is this near, for forces may press it together within a step.
constexpr float kOrganReach = 2e-3f;  // m

// Speeds may grow within a step: what approaches is looked for this much further ahead.
constexpr float kSpeedReserve = 2.f;

// m, from where something at that speed towards the other may come within the step
inline float contact_foresight(float speed, float dt) { return kOrganReach + kSpeedReserve * dt * speed; }

}  // namespace trocar
