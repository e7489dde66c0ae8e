// Cuts, burns and tears the sheets of a session (deform/thin/sheet_cut.hpp); the faces of their slabs follow.
// Units: metres, seconds, world.   Tested in tests/sim/session/session_sheet_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

#include "deform/cut/slit.hpp"
#include "sim/session/organ.hpp"

namespace trocar {

inline bool is_sheet(const Organ& organ) { return !organ.tissue.slab.empty(); }

// Cut a sheet along the region of the blades; burn it within the radius of the segments; tear it where it is pulled
// too hard. Each returns whether its surface has changed, which allocates. Nothing changes where there is no room for
// the nodes of the cut.
bool snip_sheet(Organ& organ, const BladeCut& cut);
bool burn_sheet(Organ& organ, std::span<const HotSegment> hot);
bool tear_sheet(Organ& organ);

// Chars the vertices of a sheet near hot metal that only coagulates for dt seconds.
void coagulate_sheet(Organ& organ, std::span<const HotSegment> metal, double dt);

// Lets pieces fall that are not fixed, tied or held by a fibre, while another one is.
void release_loose_sheet(Organ& organ, const glm::vec3& fall);
// Stops pieces that have fallen out of sight.
void stop_fallen_sheet(Organ& organ, float out_of_sight);

}  // namespace trocar
