// What the lab keeps of one attempt: who, what, when, how it ended, and its metrics. It comes from a recording and its
// score; a station also keeps it as a JSON file until the database has it. Decides which file is the recording of an
// attempt.
// Units: seconds; dates are seconds since 1970 (UTC).   Tested in tests/app/lab_attempt_test.cpp
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "sim/score/attempt.hpp"

namespace trocar {

double now_in_seconds();
// Returns the seconds of "2026-11-21 10:22:05" or "2026-11-21"; nothing for another text.
std::optional<double> date_in_text(const std::string& text);
// The same; 0 for a text that is no date.
double date_of_text(const std::string& text);
// Returns whether an attempt can have begun then: since 1970, and not in the future; clocks may differ by a day.
bool is_past_date(double seconds);
// Returns "2026-11-21 10:22".
std::string text_of_date(double seconds);
// The same in the time of this machine's place.
std::string local_text_of_date(double seconds);

class Recording;

struct LabAttempt {
  std::string key;                        // 32 hexadecimal digits, unique in the world
  std::string person;                     // id
  std::string station;                    // name of the machine
  std::string scene, title;               // name of the scene's file without folder and ending; title of the scene
  int level = 1;                          // of the task
  std::string kind;                       // of the task; empty: free practice
  std::string ending;                     // "done", "not done", "stopped", "unknown"
  std::string devices;                    // names, separated by ", "
  double started = 0.0;                   // date
  double seconds = 0.0;                   // duration
  std::optional<double> score;            // 0 .. 100; empty: free practice
  bool critical = false;                  // a critical error capped its score
  std::string version;                    // of Trocar
  std::string recording;                  // path of the file on the station, by text_of_bytes()
  std::map<std::string, double> metrics;  // by "task.id", "whole.id", "instrument.id"; undefined ones are absent
};

// Returns a new key from the system's random numbers.
std::string new_attempt_key();
// Returns the recorded key, which every copy has, packed or under another name. Throws InputError for a damaged one.
std::string attempt_key_of(const Recording& recording, const std::string& file);

// Returns what is wrong with an attempt that cannot be entered, as part of a sentence: an impossible number, a text
// that no database takes. Empty: nothing is.
std::string attempt_fault(const LabAttempt& attempt);

// Throws InputError when the recording is not an attempt (a demonstration, a replay, a script), has no person and
// `person` is empty, or has no plausible date. `person`: instead of the recorded one.
LabAttempt lab_attempt_of(const Recording& recording, const Attempt& score, const std::string& person = {});

// The file form, {"format": "trocar-attempt-1", ...}. Reading throws InputError naming `file`, also for what
// attempt_fault() finds.
std::string lab_attempt_json(const LabAttempt& attempt);
LabAttempt lab_attempt_of_json(const std::string& text, const std::filesystem::path& file);
// The metrics alone, as one line.
std::string metrics_json(const std::map<std::string, double>& metrics);
std::map<std::string, double> metrics_of_json(const std::string& text);

// What is known of an attempt whose recording is looked for.
struct RecordingClaim {
  std::string recording;  // path, by text_of_bytes()
  std::string station;    // name of the machine
  std::string person;     // id
  std::string key;        // empty: not known
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
