// Computes checksums of a recorded frame, by which a session that is computed again is compared with the first.
// Tested in tests/sim/pack_test.cpp and tests/sim/input_rerun_test.cpp
#pragma once

#include <cstdint>

#include "sim/record/record_sink.hpp"

namespace trocar {

// Returns the checksum of what a compact recording lacks of a frame: of each organ the nodes, then point, normal, depth
// and time of each touch, then the pressures.
std::uint64_t checksum_of(const RecordedFrame& frame);

// The same, and then of each organ the ids of the touched faces.
std::uint64_t checksum_with_faces(const RecordedFrame& frame);

}  // namespace trocar
