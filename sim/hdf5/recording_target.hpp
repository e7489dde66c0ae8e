// Chooses the file of a new recording and creates it exclusively, under a free name. A finished recording with this
// name is replaced: it is moved aside first, and moved back unless the new recording starts successfully. Any other
// file is kept, also a recording in progress and the recording of a killed session.
// Tested in tests/app/output_test.cpp
#pragma once

#include <filesystem>

namespace trocar {

class RecordingTarget {
 public:
  // Only checks the file. Throws InputError when the file cannot be written, or exists and must not be replaced.
  explicit RecordingTarget(const std::filesystem::path& file);
  // Moves the old recording back, unless settle() was called.
  ~RecordingTarget();
  RecordingTarget(const RecordingTarget&) = delete;
  RecordingTarget& operator=(const RecordingTarget&) = delete;

  // Moves the old recording aside. Throws InputError when a program writes it or it must not be replaced, RunError
  // when it cannot be renamed.
  void make_free();
  // Call it when the new recording has started: deletes the old recording.
  void settle();
  // Returns the target file with symbolic links resolved.
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_, aside_;  // `aside_`: empty when there is no old recording
  bool moved_ = false;
};

}  // namespace trocar
