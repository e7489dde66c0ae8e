// Which recordings of a station stay: all of them, unless the laboratory has set a rule. With a rule, passes and the
// last attempts of each person at each level of a task stay; the recordings of the others are removed, and their rows
// in the database, with score and metrics, stay.   Tested in tests/app/lab_retention_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/lab/lab_database.hpp"
#include "app/lab/lab_station.hpp"
#include "sim/course/curriculum.hpp"

namespace trocar {

struct RetentionRule {
  std::optional<int> last;  // attempts that stay, beside the passes; empty: every recording stays
};
inline constexpr int kMostLast = 100'000;

// The rule of the station, in recordings.toml beside lab.toml. Reading throws InputError for damaged settings; writing
// throws RunError.
RetentionRule read_retention(const LabPlaces& places);
void write_retention(const LabPlaces& places, const RetentionRule& rule);

// Returns whether an attempt is a pass: by the step of the curriculum with its scene and level or, without such a step,
// by ending as done without a critical error.
bool is_pass(const LabAttempt& attempt, const Curriculum& curriculum);

// Returns the attempts whose recordings the rule does not keep, the oldest first. `attempts`: all of one person, in any
// order. A recording that several attempts name stays if one of them keeps it.
std::vector<LabAttempt> superfluous(std::vector<LabAttempt> attempts, const Curriculum& curriculum,
                                    const RetentionRule& rule);

struct Removable {
  LabAttempt attempt;
  std::filesystem::path file;
  std::uint64_t bytes = 0;
};
// Returns the recordings on this machine that the rule does not keep, of everybody, and that surely are what the
// database says.
std::vector<Removable> removable_recordings(LabDatabase& lab, const Curriculum& curriculum, const RetentionRule& rule);
// Removes a recording, unless it is another file or being written by now. Returns whether it was removed.
bool remove_recording(const Removable& recording);

}  // namespace trocar
