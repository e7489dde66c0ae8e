// A private folder for the files of the cases in progress, below the system's folder for temporary files. It is removed
// at the end. A folder of a killed process stays; the next sweep on the machine removes it, because the lock on a file
// in it is free.   Tested in tests/app/sweep_test.cpp
#pragma once

#include <filesystem>

namespace trocar {

class ScratchFolder {
 public:
  // Throws InputError when the folder cannot be created.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace trocar
