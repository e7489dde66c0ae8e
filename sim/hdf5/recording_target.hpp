// The file of a new recording: the name is free, or that of a finished recording, which the new one replaces when it
// has succeeded; a rewritten recording is complete or absent. Tested in tests/app/files_test.cpp,
// tests/sim/recording/recording_faults_test.cpp and pack_test.cpp
#pragma once

#include <filesystem>
#include <functional>

#include "sim/hdf5/h5_file.hpp"

namespace trocar {

// Chooses the file of a new recording and creates it exclusively, under a free name. A finished recording with this
// name is replaced: it is moved aside first, and moved back unless the new recording starts successfully. Any other
// file is kept, also a recording in progress and the recording of a killed session.

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

// Writes a recording that is complete or absent: under the name FILE.partial, which is renamed when all data are on the
// disk.

class PartialRecording {
 public:
  // Creates FILE.partial; removes one that a killed program left. Throws InputError when it cannot be written or
  // another program writes it.
  explicit PartialRecording(const std::filesystem::path& file);
  // Removes FILE.partial, unless finish() succeeded.
  ~PartialRecording();
  PartialRecording(const PartialRecording&) = delete;
  PartialRecording& operator=(const PartialRecording&) = delete;

  H5File& file() { return to_; }
  const std::filesystem::path& path() const { return partial_; }
  // Closes the file and renames it to FILE, which keeps the permissions of a file of this name. Destroy the tables of
  // file() before. Throws RunError when that fails.
  void finish();

 private:
  std::filesystem::path path_, partial_;
  H5File to_;
  bool finished_ = false;
};

// Removes a file in which a killed program was writing a recording; any other file stays. Throws InputError when a
// program is writing it.
void remove_killed_copy(const std::filesystem::path& partial);
// Writes the entries of the file's folder to the disk, so that a rename survives a loss of power.
void sync_folder_of(const std::filesystem::path& file);

// Writes `file` by `write`. It is complete or absent, and replaces only a finished recording. Throws InputError when it
// must not be replaced, RunError when writing fails, and the errors of `write`.
void write_whole_recording(const std::filesystem::path& file, const std::function<void(H5File&)>& write);

}  // namespace trocar
