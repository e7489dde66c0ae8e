// Reads a file completely or rejects it; writes a file completely or not at all. All files that the program reads or
// writes in one piece use this; recordings, which grow, have their own code.
// Tested in tests/app/output_test.cpp and tests/app/input_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace trocar {

// The name of a kind of file in error sentences, and its largest size.
struct FileKind {
  const char* name;          // "mesh", "scene", "trajectory"
  std::uint64_t most_bytes;  // a larger file is rejected before it is read
};

// Reads a file. Throws InputError when it cannot be read, is too large, or is not a regular file: a pipe or a device
// may block or never end.
std::string read_whole_file(const std::filesystem::path& file, const FileKind& kind);

// Writes a file. The data go to a temporary file in the same folder; commit() renames it, otherwise it is removed. A
// symbolic link is followed: its target is replaced, not the link.
class WholeFile {
 public:
  // Creates the temporary file at once, so that an unwritable path fails before any work is done. Throws InputError.
  explicit WholeFile(const std::filesystem::path& file);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  std::ostream& stream() { return stream_; }
  // Throws RunError when the data could not be written completely.
  void commit();

 private:
  std::filesystem::path named_, target_, partial_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace trocar
