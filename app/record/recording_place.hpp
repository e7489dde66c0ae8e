// Where a new recording goes. It is created exclusively, under a free name. A finished recording of that name is
// replaced, as a second attempt asks for: it is put aside first and comes back unless the new one begins well. Any
// other file stays: a recording in progress or one that was killed, too.   Tested in tests/app/output_test.cpp
#pragma once

#include <filesystem>

namespace trocar {

class RecordingPlace {
 public:
  // Looks only. Error: InputError when the name is taken or cannot be written.
  explicit RecordingPlace(const std::filesystem::path& file);
  // What was put aside comes back, unless settle() was called.
  ~RecordingPlace();
  RecordingPlace(const RecordingPlace&) = delete;
  RecordingPlace& operator=(const RecordingPlace&) = delete;

  // Puts aside what is to be replaced. Error: InputError, RunError.
  void make_free();
  // The new recording has begun well: what was put aside is removed.
  void settle();
  // Where it is, links followed.
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_, aside_;  // `aside_`: empty when nothing is to be replaced
  bool moved_ = false;
};

}  // namespace trocar
