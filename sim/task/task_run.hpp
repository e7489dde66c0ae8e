// Runs a task: receives every frame and gives the next hint, warnings and events, and at the end the score. The same
// object scores a recording. In a frame only events allocate.
// Units: metres, seconds, newtons.   Tested in tests/sim/task/task_run_test.cpp
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deform/contact/grasp.hpp"
#include "deform/join/bonds.hpp"
#include "geometry/mesh_view.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/score/attempt.hpp"
#include "sim/task/observation.hpp"

namespace trocar {

// A fibre of connective tissue.
struct StageFibre {
  std::uint32_t group = 0;             // its layer or band, TaskStage::tissue
  glm::vec3 rest{0.f};                 // m, its middle at rest
  std::uint32_t a = kWall, b = kWall;  // the organs that it joins
};

// Where the scene injures a vessel.
struct StageInjury {
  glm::vec3 at{0.f};  // m, at rest
  TubeSide supplied_from = TubeSide::Start;
};
inline std::optional<StageInjury> injury_of(const std::optional<VesselScene>& vessel) {
  if (!vessel || !vessel->opened) return std::nullopt;
  return StageInjury{*vessel->opened, vessel->supplied_from};
}

// The data of the scene that a task needs before its start.
struct TaskStage {
  std::vector<std::string> organs, instruments;  // names, in the scene's order
  std::vector<MeshView> surfaces;                // [organ] at rest
  std::vector<GraspParams> jaws = {};            // [instrument]; empty: the defaults
  // [organ] m, line through a duct or vessel; empty for other organs
  std::vector<std::vector<glm::dvec3>> lines = {};
  std::vector<std::string> tissue = {};                   // [group] names of the layers, then of the bands
  std::vector<StageFibre> fibres = {};                    // [fibre]
  std::vector<InstrumentKind> kinds = {};                 // [instrument]
  std::vector<std::optional<StageInjury>> injuries = {};  // [organ]
  std::vector<glm::dvec3> pegs = {};                      // m, feet of the pegs of all boards
  double peg_height = 0.0;                                // m, of the highest
};

// The state of a task that the window shows.
struct TaskFeed {
  bool finished = false;                 // the task has ended: done, out of time, or a critical error
  bool done = false;                     // the task was completed
  double elapsed = 0.0;                  // s
  double progress = 0.0;                 // 0 .. 1
  std::size_t errors = 0;                // so far
  double score = 0.0;                    // 0 .. 100, of what is done so far: the result if the task ended now
  std::optional<std::size_t> step = {};  // number of the current step of a task that has steps
  std::optional<std::size_t> tool = {};  // the instrument that this step wants next; none: any
  std::optional<double> hold = {};       // 0 .. 1: how long what must be held is held; none: nothing must be
  std::string hint;                      // what to do next: "touch target 3 of 6"
  std::string warning;                   // current error: "2.1 mm off the line"; empty: none
};

class TaskRun {
 public:
  // Prepares a task. Throws InputError naming an organ or an instrument that the scene does not have.
  TaskRun(const TaskScene& task, const TaskStage& stage);
  ~TaskRun();
  TaskRun(TaskRun&&) noexcept;

  const TaskScene& task() const;
  // Returns the points that the session and the recording must track.
  const std::vector<SurfaceMark>& marks() const;
  // Returns of how many of the first marks the task needs to know whether an organ hides them.
  std::size_t watched_marks() const;

  void step(const Observation& seen);
  const TaskFeed& feed() const;
  TaskResult result() const;
  // Adds the task's marks, at their positions of the last step, for the view.
  void draw(DrawnMarks& marks) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// Tells which instrument a task is about.   Tested in tests/sim/task/task_run_test.cpp

// Returns the number of the instrument in the scene that a trainee takes first: the task's, or of an operation that of
// the first step; otherwise the first. The number of instruments stands for the scope.
std::size_t instrument_of_task(const Scene& scene);

// Returns the end of the scored time, s: the last event of a task that is finished, else its time limit. `start`: s.
double end_of_score(const TaskScene& task, const TaskResult& result, double start);
// Returns whether an instrument has left the body for another one of its port: then its tip has not to be seen. False
// where the scene has no such instrument, as that of a recording whose scene cannot be read.
bool is_out_of_body(const Scene& scene, std::size_t instrument, const ToolPose& pose);
// Returns the times of the task's notes: the straight-line path leads through the tip's positions at these times.
std::vector<double> stops_of(const TaskResult& result);

}  // namespace trocar
