// Computes a trainee's progress in a curriculum from a list of attempts: which steps are locked, open, passed or due
// for a refresher, and what an attempt missed. The result depends on the attempts alone, not on their order in the
// list. Definitions: docs/curriculum.md   Tested in tests/sim/task/course_progress_test.cpp
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/course/curriculum.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

// An attempt of a trainee. Demonstrations by scripted trainees are not attempts; the caller leaves them out.
struct CourseAttempt {
  std::string scene;  // scene_key() of its scene
  int level = 1;
  double date = 0.0;   // s    of its start, Unix time; an attempt whose date is not finite does not count
  double score = 0.0;  // 0..100
  bool finished = false;
  bool critical_error = false;
  std::map<std::string, double, std::less<>> metrics;  // by id, as in MetricLimit; NaN: undefined
};

// Returns a scored attempt as an attempt of the scene. An attempt without a task is not finished and has no score.
CourseAttempt course_attempt(const Attempt& scored, std::string scene, int level, double date);

// Returns whether the machine lost so much time that the attempt does not count (sim/score/lost_time.hpp).
bool is_practice(const CourseAttempt& attempt);

// Names a metric of a curriculum in words: "task_errors" is "errors", "probe.path_length" "path length of the probe".
std::string metric_words(const std::string& id);

// Returns one sentence for each criterion that the attempt misses; empty for a pass.
std::vector<std::string> missed_criteria(const CourseStep& step, const CourseAttempt& attempt);

enum class StepState {
  Locked,  // a step that it requires is not passed
  Open,    // not passed
  Passed,
  RefresherDue  // passed, but the last pass is too long ago; steps that require it stay open
};

struct StepProgress {
  StepState state = StepState::Open;
  int attempts = 0;                      // at its scene and level, without practice
  int in_a_row = 0;                      // passes since the last attempt that was not a pass
  int in_all = 0;                        // passes
  std::optional<double> best;            // 0..100  the highest score; empty without a score
  std::optional<double> passed_on = {};  // s       date of the attempt that completed the step
  std::optional<double> due_on = {};     // s       from when a refresher is due
};

// Returns the progress of each step. `now`: s, Unix time.
std::vector<StepProgress> course_progress(const Curriculum& curriculum, std::span<const CourseAttempt> attempts,
                                          double now);

// Computes thresholds for a task from the attempts of experts: the score and the time to reach, and the force, tremor
// and errors that are allowed. Rule: Korndorffer et al., "Developing and testing competency levels for laparoscopic
// skills training", Arch. Surg. 140, 2005 (the mean without values beyond 2 SD); Ritter, Scott, Surg. Innov. 14, 2007
// (allowed errors). Definitions: docs/curriculum.md   Tested in tests/sim/task/course_progress_test.cpp

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
