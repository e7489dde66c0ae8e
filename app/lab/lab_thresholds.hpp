// Takes experts' attempts from recordings or the database, and writes the thresholds that follow from them as TOML: a
// step of a curriculum and the keys of a task, with the distribution of the values as comments. The whole text is valid
// TOML.   Rule: sim/course/course_progress.hpp   Tested in tests/app/lab_thresholds_test.cpp
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/lab/lab_attempt.hpp"
#include "sim/course/course_progress.hpp"

namespace trocar {

// Scores a recording. Throws InputError when it has no task.
ExpertAttempt expert_attempt_of(const std::filesystem::path& recording);
ExpertAttempt expert_attempt_of(const LabAttempt& attempt);

std::string thresholds_toml(const ExpertThresholds& thresholds);

}  // namespace trocar
