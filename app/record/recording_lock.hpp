// One writer for a recording: a lock on the file itself, held by its writer and by `recover`, which the system releases
// when the holder ends, however it ends. So a file that says "being written" and is not locked was left by a killed
// process. An open-file-description lock (fcntl F_OFD_SETLK) of one byte far behind any data: unlike a POSIX lock it
// survives that HDF5 opens and closes the same file in this process; unlike a lock file it cannot be left behind; and
// it stays clear of the flock that HDF5 takes for itself, so that h5py may read along.   Tested in
// tests/app/recording_lock_test.cpp
#pragma once

#include <filesystem>

namespace trocar {

enum class LockAnswer {
  Free,     // taken, or can be taken
  Busy,     // another open file holds it
  Unusable  // this file system has no such locks
};

// Takes the lock for the descriptor, which must be open for writing. Closing the descriptor releases it.
LockAnswer take_recording_lock(int descriptor);
// Asks only.
LockAnswer ask_recording_lock(int descriptor);

// The lock of a file that is there, for as long as this lives.
class RecordingLock {
 public:
  // Error: InputError when a program writes the file, or this cannot be known.
  explicit RecordingLock(const std::filesystem::path& file);
  ~RecordingLock();
  RecordingLock(const RecordingLock&) = delete;
  RecordingLock& operator=(const RecordingLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace trocar
