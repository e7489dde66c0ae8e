// Writes a session to HDF5 while it runs. The frame thread only copies into memory; a writer thread passes the copies
// to HDF5 and flushes at least twice a second (SWMR writing), so a killed process loses less than a second. When the
// disk is full or the file is deleted, recording ends; unless the file was deleted, the frames written so far stay
// readable. Units: metres, newtons, seconds, milliseconds for stage times.   Layout: docs/file
// Tested in tests/sim/recording/recorder_test.cpp (kill -9 included) and tests/sim/recording/recording_faults_test.cpp
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "sim/record/record_sink.hpp"

namespace trocar {

struct Scene;

struct RecorderParams {
  // bytes   limit for frames that wait to be written; beyond it the disk is too slow and recording ends
  std::size_t most_waiting = std::size_t{512} << 20;
};

class Recorder final : public RecordSink {
 public:
  // Throws InputError when the file cannot be written, RunError when the disk is full. An error leaves no new file.
  Recorder(const std::filesystem::path& file, const RecordingHeader& header, const RecorderParams& params = {});
  // Closes the file as that of a run that was stopped, and ignores errors; call close() to get them.
  ~Recorder() override;

  // Copies the frame. Never waits for the disk and never throws; allocates only while its buffers grow. After a failure
  // it does nothing.
  void append(const RecordedFrame& frame) override;
  // Returns true when recording has ended early, for example because the disk is full or the file was deleted;
  // failure() gives the reason in one sentence.
  bool failed() const noexcept override;
  std::string failure() const override;
  void set_ending(Ending ending) override;
  // Writes the remaining frames and closes the file, which is then a plain HDF5 file. Throws RunError when a write
  // failed or the file was moved.
  void close() override;

 private:
  void begin(const RecordingHeader& header);

  struct Writer;
  std::unique_ptr<Writer> writer_;
};

// Returns the argument of a SessionRecorder that writes to this file. The call of that argument throws the errors of
// Recorder.
OpenSink recording_file(std::filesystem::path file);

// Estimates how much a recording of a scene takes, before the session begins.   Units: bytes a second.

// Reads the meshes of the scene and makes the lattices of its organs; takes up to a second. Throws InputError when a
// mesh cannot be read.
double recording_rate(const Scene& scene);

}  // namespace trocar
