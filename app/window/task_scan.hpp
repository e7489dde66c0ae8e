// Scores a recording's task in small steps, so that the window stays responsive. The events equal those of
// score_task(). Tested in tests/app/window_replay_test.cpp
#pragma once

#include <memory>
#include <vector>

#include "app/window/replay_scene.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

class TaskScan {
 public:
  // The recording must outlive the scan. Without a task, or with a task that does not fit the recording, work() returns
  // true at once.
  TaskScan(const Recording& recording, const Scene& scene);
  ~TaskScan();

  // Works for about `ms`. True when the task is scored completely.
  bool work(double ms);
  std::vector<TaskEvent> events() const;  // so far

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
