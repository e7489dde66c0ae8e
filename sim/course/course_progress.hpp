// Computes a trainee's progress in a curriculum from a list of attempts: which steps are locked, open, passed or due
// for a refresher, and what an attempt missed. The result depends on the attempts alone, not on their order in the
// list. Definitions: docs/curriculum.md   Tested in tests/sim/course_progress_test.cpp
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
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
  int attempts = 0;                      // at its scene and level
  int in_a_row = 0;                      // passes since the last attempt that was not a pass
  int in_all = 0;                        // passes
  std::optional<double> best;            // 0..100  the highest score; empty without a score
  std::optional<double> passed_on = {};  // s       date of the attempt that completed the step
  std::optional<double> due_on = {};     // s       from when a refresher is due
};

// Returns the progress of each step. `now`: s, Unix time.
std::vector<StepProgress> course_progress(const Curriculum& curriculum, std::span<const CourseAttempt> attempts,
                                          double now);

}  // namespace trocar
