// What the lab keeps of one attempt: who, what, when, how it ended, and its metrics. It comes from a recording and its
// score; a station also keeps it as a JSON file until the database has it.
// Units: seconds; dates are seconds since 1970 (UTC).   Tested in tests/app/lab_attempt_test.cpp
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "sim/score/attempt.hpp"

namespace trocar {

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
  bool critical = false;                  // a critical error ended it
  std::string version;                    // of Trocar
  std::string recording;                  // path of the file on the station, by text_of_bytes()
  std::map<std::string, double> metrics;  // by "task.id", "whole.id", "instrument.id"; undefined ones are absent
};

// Returns a new key from the system's random numbers.
std::string new_attempt_key();
// Returns the recorded key. An older recording has none: its key follows from its date, person, scene and first frames,
// which every copy has, packed or under another name. Throws InputError for a damaged one.
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

}  // namespace trocar
