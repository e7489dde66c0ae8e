// Files as the user meets them: read whole or refused, written whole or not at all. The only way in which the program
// reads or writes a file in one piece (recordings grow and have their own).
// Tested in tests/app/output_test.cpp and tests/app/input_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace trocar {

// What a kind of file is called in a sentence, and how large it may be.
struct FileKind {
  const char* name;          // "mesh", "scene", "trajectory"
  std::uint64_t most_bytes;  // a larger one is refused before it is read
};

// Only regular files are read, never a pipe or a device, which may block or never end. Error: InputError.
std::string read_whole_file(const std::filesystem::path& file, const FileKind& kind);

// Written beside its final name and renamed by commit(); removed when it is not committed. A symbolic link is followed,
// so that the file it names is replaced and not the link.
class WholeFile {
 public:
  // Opens at once, so that an unwritable place is refused before any work is done. Error: InputError.
  explicit WholeFile(const std::filesystem::path& file);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  std::ostream& stream() { return stream_; }
  // Error: RunError when the disk did not take everything.
  void commit();

 private:
  std::filesystem::path named_, target_, partial_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace trocar
