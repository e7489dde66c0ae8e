// Output that is whole or absent: written beside its final name and renamed by commit(). Nothing but a recording may
// take the place of a recording.   Tested in tests/app/damaged_recording_test.cpp
#pragma once

#include <filesystem>
#include <fstream>

namespace trocar {

// Does the file begin as every recording does?
bool is_hdf5(const std::filesystem::path& file);

class OutputFile {
 public:
  // Opens at once, so that an unwritable place is refused before any work is done. Error: InputError.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  // Error: RunError when the disk did not take everything.
  void commit();

 private:
  std::filesystem::path path_, partial_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace trocar
