// Copies the complete frames of a recording to another file, table by table.
// Tested in tests/sim/recording_faults_test.cpp and pack_test.cpp
#pragma once

#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/recording.hpp"

namespace trocar {

// Copies attributes, and all tables that both forms store in the same way; the tables of a full recording are stored
// plain, those of other forms are compressed. `from`: the file of `recording`. Returns the number of touches. Throws
// RunError when a write fails.
std::uint64_t copy_recording(const Recording& recording, const H5File& from, H5File& to, RecordingForm form);

}  // namespace trocar
