// Names the ids of metrics, so that the reader of a curriculum finds a misspelt one. Meanings: docs/tasks.md and
// docs/metrics.md, whose ids tests/sim/curriculum_test.cpp compares with these.
#pragma once

#include <span>
#include <string_view>

namespace trocar {

// Returns the ids of the parts of tasks: "task_time" ...
std::span<const std::string_view> task_metric_ids();
// Returns the ids of the other metrics, of an instrument or of the whole session: "path_length" ...
std::span<const std::string_view> session_metric_ids();

// Returns whether this is the id of a metric.
bool is_metric_id(std::string_view id);

}  // namespace trocar
