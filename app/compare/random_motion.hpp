// Random tool motions over an organ: what agreement is proved on, in tests and in long runs.
// Units: metres, seconds. The same seed gives the same motion everywhere.
#pragma once

#include <cstdint>

#include "app/input/trajectory.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// The trocar stands outside the organ; the tip starts at one of its vertices and leaps from vertex to vertex, near or
// far, with pauses, pure insertions and reversals among the steps. Error: none; `organ` has at least one vertex.
Trajectory random_motion(std::uint64_t seed, const MeshView& organ, std::size_t frames);

}  // namespace trocar
