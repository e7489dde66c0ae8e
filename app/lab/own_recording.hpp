// Decides whether the file that a row of the database, a waiting attempt or a note names is the recording of that
// attempt on this machine. Rows come from other stations, backups and other programs, so whatever opens or removes a
// file of such a path asks here first.   Tested in tests/app/own_recording_test.cpp
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/lab/lab_attempt.hpp"

namespace trocar {

// What is known of an attempt whose recording is looked for.
struct RecordingClaim {
  std::string recording;          // path, by text_of_bytes()
  std::string station;            // name of the machine
  std::string person;             // id
  std::string key;                // empty: not known
  std::optional<double> started;  // date; empty: not known
};
RecordingClaim claim_of(const LabAttempt& attempt);

enum class Claimed {
  Ours,    // a recording of this person and, where they are known, of this attempt
  Away,    // it cannot be read now: a disk that is not mounted, no permission
  Foreign  // another file, or another machine's
};

struct OwnRecording {
  Claimed answer = Claimed::Foreign;
  std::filesystem::path file;
  std::string why;    // one sentence without the path, unless it is ours
  bool live = false;  // a program is writing it
};
// Never opens anything but a regular file, and follows no symbolic link at the end of the path.
OwnRecording own_recording(const RecordingClaim& claim);

}  // namespace trocar
