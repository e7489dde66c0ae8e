// Computes thresholds for a task from the attempts of experts: the score and the time to reach, and the force, tremor
// and errors that are allowed. Rule: Korndorffer et al., "Developing and testing competency levels for laparoscopic
// skills training", Arch. Surg. 140, 2005 (the mean without values beyond 2 SD); Ritter, Scott, Surg. Innov. 14, 2007
// (allowed errors). Definitions: docs/curriculum.md   Tested in tests/sim/expert_thresholds_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/course/course_progress.hpp"

namespace trocar {

// Values farther than this from the mean are left out.
inline constexpr double kTrimBeyond = 2.0;  // standard deviations

// What a value to reach is derived from.
enum class ExpertRule { TrimmedMean, Median };

struct ExpertAttempt {
  CourseAttempt attempt;
  std::string expert;     // id; empty: not known
  std::string source;     // its recording or key, for messages
  bool scripted = false;  // a scripted trainee performed it
};

// The distribution of one metric over attempts, after trimming. `sd`: of a sample (n - 1).
struct ExpertValues {
  std::size_t n = 0, trimmed = 0;
  double mean = 0.0, sd = 0.0, median = 0.0, least = 0.0, most = 0.0;
};
// Returns the distribution of the finite values, which may be none (n = 0).
ExpertValues expert_values(std::span<const double> values);

struct ExpertThreshold {
  std::string metric;  // "score", "task_time" ...: an id of docs/tasks.md
  std::string unit;
  bool at_most = true;   // false: at least
  bool allowed = false;  // a limit of what is allowed: the largest value kept, whatever the rule
  ExpertValues values;
  double threshold = 0.0;  // rounded to a thousandth, so that the value that it comes from passes
};

struct ExpertThresholds {
  std::string scene;  // scene_key()
  int level = 1;
  ExpertRule rule = ExpertRule::TrimmedMean;
  std::size_t attempts = 0, left_out = 0;  // finished without a critical error; not so
  std::size_t experts = 0, scripted = 0;   // people who are named; attempts by scripted trainees
  std::vector<ExpertThreshold> thresholds;
  const ExpertThreshold* find(std::string_view metric) const;  // null: undefined in this task
};

// Throws InputError for attempts at different tasks or levels, and for fewer than two that are finished without a
// critical error.
ExpertThresholds expert_thresholds(std::span<const ExpertAttempt> attempts, ExpertRule rule);

}  // namespace trocar
