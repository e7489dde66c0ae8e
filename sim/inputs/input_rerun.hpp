// Runs a session again from its logged inputs, frame by frame, and compares it with the first run.
// Tested in tests/sim/input_rerun_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/inputs/input_log.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/session/session.hpp"

namespace trocar {

// Returns a function that opens the sink of `open` and in addition sets `sums` to those of each frame that is appended.
// `sums` must outlive the sink.
OpenSink with_sums(OpenSink open, FrameSums& sums);

// A sink that stores nothing.
OpenSink no_recording();

class InputRerun {
 public:
  // `log` and `backends` must outlive this object. Throws the errors of Session, and InputError when the log belongs to
  // a scene with other instruments.
  InputRerun(const InputLog& log, const Scene& scene, BackendMaker& backends, const std::string& backend,
             const std::vector<CheckPlan>& checks = {});

  // Runs the next frame. Returns its clock; nothing when the log has ended.
  std::optional<FrameClock> step();
  Session& session() { return *session_; }

 private:
  const InputLog& log_;
  std::optional<Session> session_;
  std::size_t next_ = 0;
};

}  // namespace trocar
