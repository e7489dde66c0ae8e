// Provides an HDF5 file driver (virtual file layer) through which HDF5 reads and writes RecordingBytes.
#pragma once

#include <cstdint>

namespace trocar {

class RecordingBytes;

// Creates a file access property list for these bytes; H5Fopen and H5Fcreate then ignore their file name. Returns an
// HDF5 id that the caller closes. `bytes` must outlive the file.
std::int64_t make_file_access(RecordingBytes& bytes);

}  // namespace trocar
