// Provides a fixture for tests of single movements of scripted trainees, with frames made by hand: no tissue is
// simulated, so that every force on an instrument, every strand and every clip is known.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mesh/tube_shape.hpp"
#include "sim/task/performer.hpp"

namespace trocar::test {

constexpr double kTick = 1.0 / 60.0;  // s

// A still hand, so that positions can be compared.
inline HandStyle steady() {
  HandStyle style;
  style.tremor = style.sway = style.aim_error = 0.0;
  return style;
}

class HandMovements : public ::testing::Test {
 protected:
  HandMovements() {
    organ_ = {{{-0.05f, -0.05f, 0.f}, {0.05f, -0.05f, 0.f}, {0.f, 0.05f, 0.f}}, {{0, 1, 2}}};
    shape_.path = {{-0.02, 0, 0}, {0.02, 0, 0}};
    duct_ = tube_surface(shape_);
    stage_.organs = {"organ", "duct"};
    stage_.surfaces = {organ_.view(), duct_.view()};
    stage_.lines = {{}, centre_line(shape_)};
    stage_.tissue = {"band"};
    tubes_.resize(2);
    scene_.task.emplace();
    scene_.task->kind = TaskKind::Operation;
    TaskStep step;
    step.title = "step";
    scene_.task->steps = {step};
  }

  void add(const std::string& name, InstrumentKind kind) {
    InstrumentScene instrument;
    instrument.name = name, instrument.kind = kind;
    instrument.pivot = {0.0, 0.0, 0.2}, instrument.tip = {0.0, 0.0, 0.1};
    scene_.instruments.push_back(instrument);
    stage_.instruments.push_back(name);
  }

  void add_strand(const glm::vec3& a) {
    stage_.fibres.push_back({0, a, 0, kWall});
    ends_.push_back({a, a + glm::vec3(0.005f, 0.f, 0.f)});
    intact_.push_back(1);
  }

  void begin(const HandStyle& style = steady()) {
    performer_.emplace(scene_, style, 1);
    const TaskRun run(*scene_.task, stage_);
    for (const SurfaceMark& mark : run.marks())
      marks_.push_back(position_of(mark, mark.organ == 1 ? duct_.positions : organ_.positions));
    performer_->begin(stage_, run.marks());
    tools_.resize(scene_.instruments.size());
    for (const InstrumentScene& instrument : scene_.instruments)
      devices_.push_back(performer_->device_of(instrument.name));
  }

  // One frame, in which the first instrument feels a force, N.
  void show(float force = 0.f) {
    for (std::size_t k = 0; k < tools_.size(); ++k) {
      const DevicePose& pose = pose_of(k);
      tools_[k].pose = {pose.pivot, pose.tip, 0.0025};
      tools_[k].grip = pose.grip;
      tools_[k].force = {0.f, 0.f, k == 0 ? force : 0.f};
    }
    Observation seen;
    seen.time = time_, seen.tools = tools_, seen.marks = marks_, seen.clips = clips_, seen.tubes = tubes_;
    seen.fibres = {intact_, ends_, {}, {}};
    TaskFeed feed;
    feed.step = step_;
    performer_->see(seen, feed);
    time_ += kTick;
  }
  DevicePose pose_of(std::size_t tool) { return devices_[tool]->pose({}); }
  double away_from_strand() { return glm::distance(pose_of(0).tip, middle_of(ends_[0])); }
  // Shows frames without a force until the tip of the hook is at the first strand.
  void reach_the_strand() {
    for (int k = 0; k < 600 && away_from_strand() > 0.0045; ++k) show();
    ASSERT_LE(away_from_strand(), 0.0045) << "the hook did not come";
  }

  Scene scene_;
  TaskStage stage_;
  TriangleMesh organ_, duct_;
  TubeShape shape_;
  std::optional<Performer> performer_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<SeenTool> tools_;
  std::vector<glm::vec3> marks_;
  std::vector<FibreEnds> ends_;
  std::vector<std::uint8_t> intact_;
  std::vector<PlacedClip> clips_;
  std::vector<TubeState> tubes_;
  std::size_t step_ = 0;  // of the operation, the current one
  double time_ = 1.0;
};

}  // namespace trocar::test
