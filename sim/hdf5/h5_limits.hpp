// Checks the tables of an untrusted file: all data are in this file, and no more than the file can hold. The ids are
// HDF5 ids. Each function returns the fault as the second half of a sentence, or an empty text when there is no fault.
// Tested in tests/sim/damaged_recording_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trocar {

// Checks the path from the file's root to an object: every link must be a hard link, which stays in the same file.
std::string fault_of_links(std::int64_t file, const std::string& path);

// Checks a table of this shape: no external files, no virtual dataset, chunks of at most 256 MiB, and no more data than
// `file_bytes` allows.
std::string fault_of_table(std::int64_t table, const std::vector<unsigned long long>& shape, std::size_t cell_bytes,
                           std::uint64_t file_bytes);

}  // namespace trocar
