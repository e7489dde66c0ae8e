// Compact recordings: without what the inputs of their session determine, and computed again from these.
// Layout: docs/file-formats.md.   Units: metres, seconds.   Tested in tests/sim/recording/pack_test.cpp
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "sim/hdf5/recording.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"

namespace trocar {

// Runs a recorded session again, frame by frame, from its inputs: the scene, the surfaces of its organs, and for each
// frame the poses of the instruments, their handles and pedals, and the simulated duration. The tissue of the same
// model version has the same bits as when it was recorded, on every machine. Units: metres, seconds.

class Rerun {
 public:
  // The recording, named `file` in messages, must outlive this object. Throws InputError when it began in
  // the middle of a session or was made by another version of the tissue model, and the errors of Session.
  Rerun(const Recording& recording, const std::string& file);
  ~Rerun();

  // Runs the next frame and returns its number. It has the members of RecordedFrame that follow from the inputs; they
  // are valid until the next call.
  std::size_t step();
  const RecordedFrame& frame() const;
  const Session& session() const { return *session_; }

 private:
  class Sink;

  const Recording& recording_;
  Scene scene_;
  CpuBackends backends_;
  std::unique_ptr<Session> session_;
  Sink* sink_ = nullptr;  // of recorder_
  std::unique_ptr<SessionRecorder> recorder_;
  std::size_t next_ = 0;
};

// trocar file pack --compact and its inverse: a recording without what its session's inputs determine.

// Called with the number of finished frames; returns false to stop.
using FramesDone = std::function<bool(std::size_t)>;

// Writes the compact form of a full or packed recording. Runs its session again and compares everything that the
// compact form lacks, bit for bit. Throws InputError when the session gives another bit, or the recording cannot be
// computed again; RunError when writing fails or `done` stops it. `out` is complete or absent and replaces only a
// finished recording.
void compact_recording(const std::filesystem::path& in, const std::filesystem::path& out, const FramesDone& done);

// Computes a compact recording again and writes it as a full one. Checks every frame against its checksum and its
// touched faces. Errors as above.
void expand_recording(const std::filesystem::path& compact, const std::filesystem::path& out, const FramesDone& done);

}  // namespace trocar
