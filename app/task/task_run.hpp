// A task while it happens: told every frame what there is to see, it says what to do next, what went wrong, and in the
// end how well it went. The same object scores a recording. Nothing allocates in a frame but events.
// Units: metres, seconds, newtons.   Tested in tests/app/task_run_test.cpp
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/score/attempt.hpp"
#include "app/task/observation.hpp"
#include "app/task/task_scene.hpp"
#include "app/view/marks.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// What a task must know of the scene before it begins.
struct TaskStage {
  std::vector<std::string> organs, instruments;  // names, in the scene's order
  std::vector<MeshView> surfaces;                // [organ] at rest
};

// What the window shows beside the picture.
struct TaskFeed {
  bool finished = false;   // done, or out of time
  double elapsed = 0.0;    // s
  double progress = 0.0;   // 0 .. 1
  std::size_t errors = 0;  // so far
  double score = 0.0;      // 0 .. 100, as it stands
  std::string hint;        // what to do now: "touch target 3 of 6"
  std::string warning;     // what is wrong now: "out of the line by 2.1 mm"; empty: nothing
};

class TaskRun {
 public:
  // Error: InputError naming an organ or an instrument that the scene does not have.
  TaskRun(const TaskScene& task, const TaskStage& stage);
  ~TaskRun();
  TaskRun(TaskRun&&) noexcept;

  const TaskScene& task() const;
  // What the session and the recording must keep track of.
  const std::vector<SurfaceMark>& marks() const;

  void step(const Observation& seen);
  const TaskFeed& feed() const;
  TaskResult result() const;
  // For the view: what of the task to draw now. Places from the last step.
  void draw(DrawnMarks& marks) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
