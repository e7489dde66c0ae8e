// Scores a recording's task in small steps, so that the window stays responsive, and keeps its marks. The events equal
// those of score_task(), the marks those of the recorded session. Tested in tests/app/window_replay_test.cpp
#pragma once

#include <memory>
#include <vector>

#include "app/window/mark_track.hpp"
#include "app/window/replay/replay_scene.hpp"
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
  // Returns the task's marks of the frames so far, as the session showed them after each. After its end the task's
  // marks do not change.
  const MarkTrack& marks() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
