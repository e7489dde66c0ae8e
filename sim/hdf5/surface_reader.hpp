// Reads the history of an organ's surface from the tables of a recording.
// Tested through tests/sim/recorder_test.cpp and damaged_recording_test.cpp
#pragma once

#include <vector>

#include "sim/hdf5/complete_rows.hpp"
#include "sim/hdf5/surface_history.hpp"

namespace trocar {

// `tables`: [OrganTable]. `rows`: of the complete frames.
SurfaceHistory read_surface(const std::vector<H5Table>& tables, const RowCounts& rows);

}  // namespace trocar
