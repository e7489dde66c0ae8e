// Runs the attempt of an attempt.json again and records it, for `trocar record --from`. Tested in
// tests/app/record_attempt_test.cpp
#pragma once

#include <string>

#include "sim/session/session.hpp"

namespace trocar {

struct AttemptCommand {
  std::string from;      // attempt.json
  std::string out;       // recording
  std::string backend;   // empty: scan, which answers in the browser
  std::string validate;  // second backend that checks every frame; empty: none
  bool force = false;    // write over an older recording
};

// Writes the recording and prints what it has. Throws InputError when the attempt cannot be run again here (nothing is
// written), and RunError when the recording is not the attempt: another touched face, checksum, score or event.
void record_attempt(const AttemptCommand& command);

// Prints how the session's answers agree with the reference and with the second backend `validate`. Throws RunError
// when they do not.
void require_agreement(const Session& session, const std::string& validate);

}  // namespace trocar
