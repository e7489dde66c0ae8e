// Reads and writes attempt.json: an attempt in one small file, from which its session can be run again with the same
// bits (sim/inputs/input_rerun.hpp). The program in the browser writes it; `trocar record --from` makes a recording of
// it. Layout: docs/file   Tested in tests/sim/recording/attempt_file_test.cpp and tests/fuzz/text_fuzz.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/inputs/input_rerun.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

struct AttemptFile {
  std::string program, date;  // version of the program that wrote it; UTC
  int model_version = 0;      // of the tissue model
  std::string scene;          // file below the data folder, "scenes/tasks/burn_line.toml"
  std::string scene_text;     // of the level that was performed
  std::uint32_t seed = 0;     // of the scripted trainee of a demonstration
  RunNote run = {};           // clock of the score, activity, person; the device follows from the activity
  Ending ending = Ending::Unknown;
  double score = 0.0;  // 0 .. 100, without a task 0
  std::vector<TaskEvent> events = {};
  InputLog log = {};
};

// The largest file that is read.
constexpr std::uint64_t kMostAttemptBytes = std::uint64_t{64} << 20;

// Writes the file's text. A reader gets every number with the same bits.
std::string attempt_text(const AttemptFile& attempt);

// Reads a text. Throws InputError, naming `file`, for a text that is not an attempt or is damaged: its columns
// contradict each other, its clock runs backwards or lasts longer than a day.
AttemptFile parse_attempt(std::string_view text, const std::string& file);
AttemptFile load_attempt(const std::filesystem::path& file);

}  // namespace trocar
