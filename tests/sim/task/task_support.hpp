// Provides what tests of tasks share: frames made by hand, and the committed scenes with coarse organs. Units: metres,
// seconds.
#pragma once

#include <gtest/gtest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/task_run.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::test {

// One organ, an open sheet in the plane z = 0, and one instrument that points straight down at it.
class HandMadeFrames {
 public:
  static constexpr double kDt = 0.01, kRadius = 0.0025;  // s, m

  HandMadeFrames() : sheet_(shapes::grid(40, 40, 0.2f, 0.2f)) {
    tool.pose = {{0, 0, 0.2}, {0, 0, 0.05}, kRadius};
    scope = {{0, 0, 0.30}, {0, 0, 0.15}, 0.0, 0.0, 60.0};
  }

  TaskStage stage() const { return {{"sheet"}, {"probe"}, {sheet_.view()}}; }

  // Sets the tip at this height above a point; it touches the sheet when the height is at most the radius.
  void tip_at(double x, double y, double height = kRadius) {
    tool.pose.tip = {x, y, height}, tool.pose.pivot = {x, y, 0.2};
    touches_.clear();
    tool.heats = height <= kRadius ? 1 : 0;
    if (height <= kRadius) touches_.push_back({FaceId(0), glm::vec3(x, y, 0), {0, 0, 1}, float(kRadius - height), 0.f});
  }

  // From now on the tool cuts with diathermy and removes this number of faces in every frame.
  void cut(std::size_t faces) {
    tool.energy = Diathermy::Cut;
    faces_removed = faces;
  }

  // Shows the next `count` frames to a task.
  void show(TaskRun& run, int count = 1) {
    for (int k = 0; k < count; ++k) {
      run.step(kept(run));
      time += kDt;
    }
  }

  // Returns the observation of the frame; valid until the next.
  Observation kept(const TaskRun& run) {
    locations_.clear();
    for (const SurfaceMark& mark : run.marks()) locations_.push_back(position_of(mark, sheet_.positions) + moved);
    first_ = {0, static_cast<std::uint32_t>(touches_.size())};
    organ_ = {{touches_, first_}, {}, faces_removed};
    Observation seen{time, {&tool, 1}, {&organ_, 1}, locations_, removed, scope, lens};
    seen.hidden = hidden;
    return seen;
  }

  SeenTool tool;
  ScopePose scope;
  Lens lens;
  glm::vec3 moved{0.f};  // m   displacement of all marks from rest
  std::uint32_t faces_removed = 0;
  std::vector<std::uint8_t> removed;  // [mark]
  HiddenPoints hidden;
  double time = 5.0;  // s   a task may begin at any time

 private:
  TriangleMesh sheet_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_;
  std::vector<glm::vec3> locations_;
  SeenOrgan organ_;
};

inline double part_of(const TaskResult& result, const std::string& id) {
  for (const Metric& part : result.parts)
    if (part.id == id) return part.value;
  ADD_FAILURE() << "no part " << id;
  return 0.0;
}

// Returns a committed task scene with coarse organs and lattices: fast enough for tests.
inline Scene coarse_scene(const std::string& name, const TemporaryFolder& folder) {
  Scene scene = load_scene(repository_file("data/scenes/tasks/" + name + ".toml"));
  scene.frame_rate = 30.0;
  for (OrganScene& organ : scene.organs) {
    organ.mesh = folder.path() / (organ.name + ".obj");
    if (!std::filesystem::exists(organ.mesh)) save_mesh(make_organ(organ.name, {.faces = 2000}), organ.mesh);
    // Burns are as coarse as the lattice.
    if (scene.task->kind == TaskKind::BurnLine && organ.name == "liver") continue;
    organ.tissue.node_spacing = organ.name == "gallbladder" ? 0.010f : 0.020f;
  }
  return scene;
}

// Returns such a scene with the frame rate of the task and cells of at most 9 mm, so that grades are those of the
// task.
inline Scene graded_scene(const std::string& name, const TemporaryFolder& folder) {
  Scene scene = coarse_scene(name, folder);
  scene.frame_rate = 60.0;
  for (OrganScene& organ : scene.organs) organ.tissue.node_spacing = std::min(organ.tissue.node_spacing, 0.009f);
  return scene;
}

inline const std::vector<std::string>& task_scenes() {
  static const std::vector<std::string> names = {"touch_targets",    "navigate_camera", "follow_curve",
                                                 "lift_gallbladder", "burn_line",       "keep_out"};
  return names;
}

// Returns the result of the trainee.
inline TaskResult perform(const Scene& scene, const HandStyle& style, std::uint32_t seed) {
  CpuBackends backends;
  PerformedSession attempt(scene, style, seed, backends, "scan");
  while (!attempt.task().feed().finished) attempt.step();
  return attempt.task().result();
}

}  // namespace trocar::test
