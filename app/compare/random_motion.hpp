// Makes random tool motions over an organ, for tests and long runs that check whether the backends agree.
// Units: metres, seconds. The same seed gives the same motion on every machine.
#pragma once

#include <cstdint>

#include "geometry/mesh_view.hpp"
#include "sim/device/trajectory.hpp"

namespace trocar {

// The trocar is outside the sphere around the organ's bounding box; the tip starts at a random vertex. Of the steps,
// one half are short steps in a random direction; one eighth each are pauses, motions along the shaft, jumps to a
// random vertex, and jumps to within 10 mm of a random vertex. `organ` must have at least one vertex.
Trajectory random_motion(std::uint64_t seed, const MeshView& organ, std::size_t frames);

}  // namespace trocar
