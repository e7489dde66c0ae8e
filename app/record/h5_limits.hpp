// What a table of a file from a stranger may be: data within this file, and no more of it than the file can hold.
// Ids are those of HDF5. Each function returns what is wrong, as the end of a sentence; empty: nothing.
// Tested in tests/app/damaged_recording_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trocar {

// Of the path from the file's root to an object: every link must be a hard one, to an object of the same file.
std::string fault_of_links(std::int64_t file, const std::string& path);

// Of a table of this shape: no external files, no virtual parts, no more data than the file's size can account for.
std::string fault_of_table(std::int64_t table, const std::vector<unsigned long long>& shape, std::size_t cell_bytes,
                           std::uint64_t file_bytes);

}  // namespace trocar
