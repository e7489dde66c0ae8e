// Judges a recording's task a little at a time, so that the window does not stand still meanwhile: the same events as
// score_task().   Tested in tests/app/window_replay_test.cpp
#pragma once

#include <memory>
#include <vector>

#include "app/score/attempt.hpp"
#include "app/window/replay_scene.hpp"

namespace trocar {

class TaskScan {
 public:
  // The recording must outlive the scan. A scene without task, or one that no longer fits, has nothing to scan.
  TaskScan(const Recording& recording, const Scene& scene);
  ~TaskScan();

  // Works for about so many ms. True when the whole recording has been judged.
  bool work(double ms);
  std::vector<TaskEvent> events() const;  // so far

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
