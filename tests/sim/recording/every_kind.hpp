// Provides a task of every kind with all its optional parts, and frames in which nothing moves: a sheet, a duct and
// strands, two graspers and a hook, and two pegs. Units: metres, seconds.
#pragma once

#include <array>
#include <vector>

#include "mesh/tube_shape.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/task_run.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::test {

inline constexpr std::array kEveryKind = {TaskKind::TouchTargets, TaskKind::NavigateCamera, TaskKind::FollowCurve,
                                          TaskKind::LiftOrgan,    TaskKind::BurnLine,       TaskKind::KeepOut,
                                          TaskKind::ClipAndCut,   TaskKind::Operation,      TaskKind::PegTransfer};

class FramesAtRest {
 public:
  FramesAtRest() : sheet_(shapes::grid(40, 40, 0.2f, 0.2f)) {
    shape_.path = {{0.f, 0.f, 0.005f}, {0.04f, 0.f, 0.005f}};
    duct_ = tube_surface(shape_);
    tools_.resize(3);
    for (SeenTool& tool : tools_) tool.pose = {{0.0, 0.0, 0.2}, {0.0, 0.0, 0.1}, 0.0025};
    first_.assign(4, 0);
    organs_.resize(2);
    for (SeenOrgan& organ : organs_) organ.touches = {{}, first_};
    organs_[0].surface = sheet_.view(), organs_[1].surface = duct_.view();
    tubes_.resize(2), lost_.resize(2);
    intact_.assign(4, 1), ends_.resize(4);
  }

  TaskStage stage() const {
    TaskStage stage{{"sheet", "duct"}, {"grasper", "hook", "second grasper"}, {sheet_.view(), duct_.view()}};
    stage.jaws.resize(3);
    stage.kinds = {InstrumentKind::Grasper, InstrumentKind::Hook, InstrumentKind::Grasper};
    stage.pegs = {{-0.03, 0.0, 0.0}, {0.03, 0.0, 0.0}}, stage.peg_height = 0.02;
    stage.lines = {{}, centre_line(shape_)};
    stage.tissue = {"bed"};
    for (int k = 0; k < 4; ++k) stage.fibres.push_back({0, {0.01f * static_cast<float>(k), 0.f, 0.f}});
    return stage;
  }

  static TaskScene task(TaskKind kind) {
    TaskScene task;
    task.kind = kind;
    task.locations = {{"sheet", {-0.03f, 0.f, 0.f}}, {"sheet", {0.03f, 0.f, 0.f}}};
    task.most_tremor = 0.00025;
    task.time_good = 1.0, task.time_limit = 2.0;
    if (kind == TaskKind::LiftOrgan) task.instrument = "grasper", task.locations.pop_back();
    if (kind == TaskKind::PegTransfer) task.instrument = "grasper";
    if (kind == TaskKind::KeepOut) task.zones = {{{{0.5, 0.5}, {0.6, 0.5}, {0.5, 0.6}}}};
    if (kind == TaskKind::ClipAndCut || kind == TaskKind::Operation)
      task.locations = {{"duct", {0.02f, 0.f, 0.005f}, TubeSide::Start}};
    if (kind == TaskKind::Operation) add_steps(task);
    return task;
  }

  // Returns the next frame; valid until the one after it.
  Observation next(const TaskRun& run) {
    marks_.clear();
    for (const SurfaceMark& mark : run.marks())
      marks_.push_back(position_of(mark, (mark.organ == 0 ? sheet_ : duct_).positions));
    time_ += 0.02;
    const ScopePose scope{{0.0, 0.0, 0.30}, {0.0, 0.0, 0.15}, 0.0, 0.0, 60.0};
    return {time_, tools_, organs_, marks_, {}, scope, lens_, {}, tubes_, {intact_, ends_, {}, {}}, {{}, lost_}};
  }

 private:
  static void add_steps(TaskScene& task) {
    TaskStep retract, clear, dissect, divide;
    retract.title = "retract", retract.organ = "sheet";
    dissect.kind = StepKind::Dissect, dissect.title = "dissect", dissect.tissue = {{"bed"}};
    // The sheet lies across the whole window.
    clear.kind = StepKind::Clear, clear.title = "clear", clear.gone = {{"sheet"}};
    clear.sides = {{"duct", {0.01f, 0.f, 0.005f}, {0.03f, 0.f, 0.005f}, 0.003},
                   {"sheet", {0.01f, 0.02f, 0.f}, {0.03f, 0.02f, 0.f}, 0.001}};
    clear.before_division = dissect.before_division = true;
    divide.kind = StepKind::Divide, divide.title = "divide";
    task.steps = {retract, clear, dissect, divide};
    TaskLimit limit;
    limit.organ = "sheet", limit.deepest_burn = 0.003, limit.most_blood_ml = 50.0, limit.most_bile_ml = 10.0;
    task.limits = {limit};
  }

  TriangleMesh sheet_, duct_;
  TubeShape shape_;
  Lens lens_;
  std::vector<SeenTool> tools_;
  std::vector<SeenOrgan> organs_;
  std::vector<std::uint32_t> first_;
  std::vector<TubeState> tubes_;
  std::vector<FluidLoss> lost_;
  std::vector<std::uint8_t> intact_;
  std::vector<FibreEnds> ends_;
  std::vector<glm::vec3> marks_;
  double time_ = 3.0;
};

}  // namespace trocar::test
