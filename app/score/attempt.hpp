// The score of an attempt: figures with their thresholds, by instrument and for the whole, and the task's result.
// Computed from a recording alone. What each figure is: docs/metrics.md. This is what `trocar score --json`, the
// window's last screen and the report show.   Tested in tests/app/score_test.cpp
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trocar {

// A figure with limits is judged: 1 at `good` or better, 0 at `poor` or worse, linear between; either may be the
// larger.
struct Metric {
  std::string id;      // "path_length": stable, for tables and scripts
  std::string label;   // "Path length"
  std::string unit;    // "mm", "s", "" for a pure number
  double value = 0.0;  // NaN: cannot be told (an instrument that never moved)
  std::optional<double> good, poor;
  std::string note = {};  // what a reader must know of it; empty: nothing
};
// 0 .. 1; nothing without limits or value.
std::optional<double> mark_of(const Metric& metric);

struct TaskEvent {
  double time = 0.0;  // s
  bool error = false;
  std::string text;  // "target 2 reached", "left the line by 3.1 mm"
};

struct TaskResult {
  std::string kind, title;
  bool finished = false;
  double score = 0.0;             // 0 .. 100
  std::vector<Metric> parts;      // what the score is made of, judged
  std::vector<TaskEvent> events;  // by time
};

struct InstrumentScore {
  std::string name;
  std::vector<Metric> metrics;
};

struct Attempt {
  std::string file, scene_title, date, version, machine, backend;
  double duration = 0.0;  // s
  std::size_t frames = 0;
  std::vector<Metric> overall;  // bimanual, view, tissue, zones, errors
  std::vector<InstrumentScore> instruments;
  std::optional<TaskResult> task;
  std::string clock = "tick";  // what its times are: "wall", the trainee's; "tick", the simulation's own
  double lost_time = 0.0;      // s  of the simulation that the machine was too slow for
  double lost_share = 0.0;     // 0..1  of the wall time
};

// An attempt that lost more of its time than this was made on a machine that is too slow for its scene.
constexpr double kMuchLostTime = 0.01;
// Says so in a sentence; empty when all is well.
std::string slow_machine_text(const Attempt& attempt);

}  // namespace trocar
