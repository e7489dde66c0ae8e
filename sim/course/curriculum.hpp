// Defines a curriculum and reads it from a TOML file: steps, each a scene at a level with the criteria of a pass, and
// how often they must be met before the step counts as passed (proficiency). Progress: sim/course/course_progress.hpp
// Sources of the design: docs/curriculum.md   Format: docs/file-formats.md   Tested in
// tests/sim/task/course_progress_test.cpp
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// Names the ids of metrics, so that the reader of a curriculum finds a misspelt one. Meanings: docs/tasks.md and
// docs/metrics.md, whose ids tests/sim/task/course_progress_test.cpp compares with these.

// Returns the ids of the parts of tasks: "task_time" ...
std::span<const std::string_view> task_metric_ids();
// Returns the ids of the other metrics, of an instrument or of the whole session: "path_length" ...
std::span<const std::string_view> session_metric_ids();

// Returns whether this is the id of a metric.
bool is_metric_id(std::string_view id);

inline constexpr int kMostSteps = 200;   // of a curriculum
inline constexpr int kMostPasses = 100;  // that a step may require

// A limit of a metric, in the metric's own unit.
struct MetricLimit {
  std::string metric;  // an id of docs/tasks.md or docs/metrics.md; "probe.path_length": of the instrument `probe`
  double value = 0.0;
  bool at_most = true;  // false: at least
};

// An attempt that meets all of them is a pass. It must also be finished.
struct PassCriteria {
  double least_score = 0.0;       // 0 .. 100
  bool no_critical_error = true;  // a critical error is no pass, whatever the score
  std::vector<MetricLimit> limits;
};

struct CourseStep {
  std::string name, title;      // the name is unique
  std::filesystem::path scene;  // the path in the file, appended to the curriculum's folder unless absolute
  int level = 1;
  PassCriteria pass;
  int in_a_row = 1;                // passes one after the other, at least once
  int in_all = 1;                  // passes, those in a row included; at least `in_a_row`
  double refresher_days = 0.0;     // a refresher is due this long after the last pass; 0: never
  std::vector<std::size_t> after;  // numbers of earlier steps that must be passed before this one is open
};

struct Curriculum {
  std::string title;
  std::vector<std::string> sources;  // of its design
  std::vector<CourseStep> steps;
  std::filesystem::path file;
};

// Returns the name by which attempts refer to a scene: its file name without folder and extension.
std::string scene_key(const std::filesystem::path& scene);

// Reads and checks a curriculum, and the scenes that it names. Throws InputError with file, line and remedy.
Curriculum load_curriculum(const std::filesystem::path& file);
// Does the same with a text, but opens no scene. `file`: the base of its relative paths, and the name in error
// messages.
Curriculum parse_curriculum(const std::string& text, const std::filesystem::path& file);

}  // namespace trocar
