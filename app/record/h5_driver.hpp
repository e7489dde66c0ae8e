// An HDF5 file driver over RecordingBytes, so that HDF5 reads and writes through them.
#pragma once

#include <cstdint>

namespace trocar {

class RecordingBytes;

// A file access property list (an HDF5 id, closed by the caller) for exactly these bytes, whatever the name given to
// H5Fopen or H5Fcreate. They must outlive the file.
std::int64_t make_file_access(RecordingBytes& bytes);

}  // namespace trocar
