// Locks a recording, so that it has only one writer. The writer and `recover` lock the file itself, and the system
// releases the lock when the process ends, even after a kill. A file that is marked as being written and is not locked
// was therefore left behind by a killed process. The lock is an open-file-description lock (fcntl F_OFD_SETLK) of one
// byte far beyond any data. Unlike a POSIX lock it stays when HDF5 opens and closes the same file in this process;
// unlike a lock file it cannot be left behind; and it does not conflict with HDF5's own flock, so h5py can read at the
// same time.
// Tested in tests/sim/recording_lock_test.cpp
#pragma once

#include <filesystem>

namespace trocar {

enum class LockAnswer {
  Free,     // the lock was taken, or can be taken
  Busy,     // another open file holds it
  Unusable  // the file system does not support it
};

// Takes the lock for the descriptor, which must be open for writing. Closing the descriptor releases the lock.
LockAnswer take_recording_lock(int descriptor);
// Tests the lock without taking it.
LockAnswer ask_recording_lock(int descriptor);

// Holds the lock of an existing file during its lifetime.
class RecordingLock {
 public:
  // Takes the lock. Throws InputError when the file cannot be opened, a program is writing it, or the file system has
  // no such locks.
  explicit RecordingLock(const std::filesystem::path& file);
  ~RecordingLock();
  RecordingLock(const RecordingLock&) = delete;
  RecordingLock& operator=(const RecordingLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace trocar
