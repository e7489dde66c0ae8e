// Defines the score of an attempt: metrics with their thresholds, for each instrument and for the whole session, and
// the task's result. The score is computed from a recording alone. Definition of each metric: docs/metrics.md. `trocar
// score --json`, the window's results screen and the report show it.   Tested in tests/sim/score/score_test.cpp
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// A metric with limits has a grade: 1 at `good` or better, 0 at `poor` or worse, linear between; either limit may be
// the larger one.
struct Metric {
  std::string id;      // "path_length": stable, for tables and scripts
  std::string label;   // "Path length"
  std::string unit;    // "mm", "s", "" for a pure number
  double value = 0.0;  // NaN: undefined (an instrument that never moved)
  std::optional<double> good, poor;
  std::string note = {};  // a remark for the reader; empty: none
};
// Returns the grade, 0 .. 1; empty without limits or value.
std::optional<double> mark_of(const Metric& metric);

struct TaskEvent {
  double time = 0.0;  // s
  bool error = false;
  std::string text;       // "target 2 reached", "left the line"
  bool pictured = false;  // a report shows the picture of this moment
  bool critical = false;  // an error that caps the score
};

struct TaskResult {
  std::string kind, title;
  bool finished = false;
  double score = 0.0;              // 0 .. 100
  std::vector<Metric> parts;       // of the score, graded
  std::vector<TaskEvent> events;   // by time
  std::string critical = {};       // the first critical error, which capped the score; empty: none
  bool ended_by_critical = false;  // a critical error ended the task
  double progress = 1.0;           // 0..1  share of the task that was done
};

// The largest score of an attempt with a critical error.
constexpr double kMostAfterCritical = 30.0;
// Returns the sentence about the cap: "Critical error: duct cut without ... . The score is at most 30."; empty without
// a critical error.
std::string cap_text(const TaskResult& task);

struct InstrumentScore {
  std::string name;
  std::vector<Metric> metrics;
};

struct Attempt {
  std::string file, scene_title, date, version, machine, backend;
  std::string person, activity, ending = "unknown";  // sim/record/record_sink.hpp; empty and unknown: not recorded
  int level = 1;                                     // of the task
  double duration = 0.0;                             // s
  std::size_t frames = 0;
  std::vector<Metric> overall;  // bimanual, view, tissue, zones, errors
  std::vector<InstrumentScore> instruments;
  std::optional<TaskResult> task;
  std::string clock = "tick";  // time base: "wall", the trainee's time; "tick", simulation time
  double lost_time = 0.0;      // s  simulation time lost because the machine was too slow
  double lost_share = 0.0;     // 0..1  of the wall time
  double worst_lost = 0.0;     // 0..1  of the LostTime::kWindow of it in which most is lost
};

// What helps a machine that is too slow.
inline constexpr std::string_view kSlowAdvice = "A lower quality of the picture or a smaller window helps.";
// Returns a warning about a slow machine; empty where LostTime::is_much() is false.
std::string slow_machine_text(const Attempt& attempt);

// Writes attempts as JSON, for `trocar score --json` and the report. An undefined value is null.
// Layout: docs/file-formats.md   Tested in tests/sim/score/score_test.cpp

// Writes one attempt. A reader gets every number with the same bits.
std::string to_json(const Attempt& attempt);
// Writes {"format": "trocar-scores-1", "attempts": [...]}.
std::string to_json(std::span<const Attempt> attempts);

// Says in words why a metric has its grade, and gives one sentence of advice: a table with one row for each graded
// metric of tasks, instruments and whole sessions. Shown by the results screen of the window, by the report and by
// `trocar score --json`.   Tested in tests/sim/task/task_run_test.cpp
struct GradeSentences {
  const char* id;      // of the metric
  const char* kind;    // of the task where the metric of this id is defined differently; "": any other
  const char* reason;  // without its end; {} stands for the value with its unit. Both are texts of the catalogue
  const char* advice;
};
std::span<const GradeSentences> grade_sentences();

struct GradeText {
  std::string why;     // "The task took 41.2 s (full grade up to 25 s, grade 0 from 90 s)."
  std::string advice;  // to be shown below the full grade
};
// Returns the sentences of a metric; both empty when it has no grade. `kind`: of the task, "" without one.
GradeText grade_text(const Metric& metric, std::string_view kind);

// Returns a number with at most three digits, or all before the decimal point, and its unit: "41.2 s".
std::string value_with_unit(double value, std::string_view unit);

}  // namespace trocar
