// Tests tasks on frames made by hand: every kind of task, their measurements, "clip and cut", and "operation".
#include <nlohmann/json.hpp>

#include "geometry/error.hpp"
#include "geometry/planar/polygon.hpp"
#include "geometry/units.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/attempt.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/duct.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/task_run.hpp"
#include "sim/task/tissue_line.hpp"
#include "sim/task/watches.hpp"
#include "tests/sim/recording/every_kind.hpp"
#include "tests/sim/scene/scene_text.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests every kind of task on frames made by hand, against values computed by hand.

using test::HandMadeFrames;
using test::part_of;

TaskScene touch_task() {
  TaskScene task;
  task.instrument = "probe", task.locations = {{"sheet", {0.01f, 0.f, 0.f}}, {"sheet", {0.05f, 0.f, 0.f}}};
  task.tolerance = 0.004, task.hold = 0.2, task.time_good = 10.0, task.time_limit = 20.0;
  return task;
}

TEST(TaskRun, PerfectTouchesScoreHundred) {
  HandMadeFrames frames;
  TaskRun run(touch_task(), frames.stage());
  EXPECT_EQ(run.marks().size(), 2u);
  frames.tip_at(0.01, 0.0);
  frames.show(run, 25);
  EXPECT_NEAR(run.feed().progress, 0.5, 0.2);
  EXPECT_EQ(run.feed().hint, "touch target 2 of 2");
  frames.tip_at(0.05, 0.0);
  frames.show(run, 25);
  EXPECT_TRUE(run.feed().finished);
  const TaskResult result = run.result();
  EXPECT_TRUE(result.finished);
  EXPECT_DOUBLE_EQ(result.score, 100.0);
  EXPECT_DOUBLE_EQ(part_of(result, "task_detour"), 1.0);
  EXPECT_EQ(result.kind, "touch-targets");
  // The target is held for 0.2 s from the second frame on, then 0.2 s more; time is that of the frames.
  EXPECT_NEAR(part_of(result, "task_time"), 0.45, 0.011);
}

TEST(TaskRun, LeavingATargetRestartsTheHoldAndTheToleranceCounts) {
  HandMadeFrames frames;
  TaskRun run(touch_task(), frames.stage());
  frames.tip_at(0.01 + 0.0041, 0.0);
  frames.show(run, 100);
  EXPECT_EQ(run.feed().progress, 0.0) << "off target";
  frames.tip_at(0.01 + 0.0039, 0.0);
  frames.show(run, 15);
  frames.tip_at(0.01, 0.0, 0.03);
  frames.show(run, 20);
  frames.tip_at(0.01, 0.0);
  frames.show(run, 15);
  EXPECT_LT(run.feed().progress, 0.5) << "twice 0.15 s is not a hold of 0.2 s";
  frames.show(run, 10);
  EXPECT_GE(run.feed().progress, 0.5);
}

TEST(TaskRun, WrongTargetsForceAndTimeAreErrors) {
  HandMadeFrames frames;
  TaskRun run(touch_task(), frames.stage());
  frames.tip_at(0.05, 0.0);
  frames.show(run, 100);
  EXPECT_EQ(run.feed().errors, 1u) << "one wrong target, for any duration";
  EXPECT_EQ(part_of(run.result(), "task_wrong"), 1.0);
  EXPECT_NEAR(part_of(run.result(), "task_beside"), 0.99, 1e-9);
  frames.tip_at(0.05, 0.0, 0.05);
  frames.tool.force = {0.f, 0.f, 5.f};
  frames.show(run, 100);
  EXPECT_EQ(run.feed().errors, 2u);
  // With a filter time constant of 50 ms, the filtered value of a 5 N force exceeds 2 N after 50 ms ln(5/3).
  EXPECT_NEAR(part_of(run.result(), "task_overload_time"), 1.0 - 0.05 * std::log(5.0 / 3.0), 0.011);
  frames.tool.force = {};
  frames.show(run, 2000);
  EXPECT_TRUE(run.feed().finished);
  EXPECT_FALSE(run.result().finished);
  EXPECT_EQ(run.result().score, 0.0) << "no target was reached";
  const auto events = run.result().events;
  frames.show(run, 10);
  EXPECT_EQ(run.result().events.size(), events.size()) << "nothing counts after the end";
}

TEST(TaskRun, RefusesMissingOrgansAndInstruments) {
  HandMadeFrames frames;
  TaskScene task = touch_task();
  task.instrument = "hook";
  EXPECT_THROW(TaskRun(task, frames.stage()), InputError);
  task = touch_task();
  task.locations[0].organ = "liver";
  EXPECT_THROW(TaskRun(task, frames.stage()), InputError);
}

TaskScene line_task(TaskKind kind) {
  TaskScene task = touch_task();
  task.kind = kind, task.locations = {{"sheet", {-0.03f, 0.f, 0.f}}, {"sheet", {0.03f, 0.f, 0.f}}};
  return task;
}

TEST(TaskRun, CurveMeasuresDeviationAndLostContact) {
  HandMadeFrames frames;
  TaskRun run(line_task(TaskKind::FollowCurve), frames.stage());
  EXPECT_EQ(run.marks().size(), 21u) << "60 mm in steps of 3 mm";
  for (int k = 0; k <= 60; ++k) {
    frames.tip_at(-0.03 + 0.001 * k, 0.002);
    if (k == 30) frames.tip_at(0.0, 0.0, 0.03), frames.show(run, 20), frames.tip_at(0.0, 0.002);
    frames.show(run);
  }
  const TaskResult result = run.result();
  EXPECT_TRUE(result.finished);
  EXPECT_NEAR(part_of(result, "task_deviation"), 2.0, 1e-6) << "mm; the lifted tip does not count";
  EXPECT_EQ(part_of(result, "task_lost_contact"), 1.0);
}

TEST(TaskRun, CurveMustBeFollowedInOrder) {
  HandMadeFrames frames;
  TaskRun run(line_task(TaskKind::FollowCurve), frames.stage());
  for (int k = 60; k > 6; --k) frames.tip_at(-0.03 + 0.001 * k, 0.0), frames.show(run);
  EXPECT_EQ(run.feed().progress, 0.0);
}

TEST(TaskRun, BurnsOnAndOffTheLine) {
  HandMadeFrames frames;
  TaskRun run(line_task(TaskKind::BurnLine), frames.stage());
  frames.cut(3);
  for (int k = 0; k <= 60; ++k) {
    // A piece of 20 mm lies 6 mm off the line.
    frames.tip_at(-0.03 + 0.001 * k, k >= 20 && k < 40 ? 0.006 : 0.0);
    frames.show(run);
  }
  EXPECT_NEAR(part_of(run.result(), "task_burnt_beside"), 19.0, 1e-6);
  EXPECT_EQ(run.feed().errors, 1u);
  EXPECT_NEAR(part_of(run.result(), "task_burnt"), 100.0 * 16 / 21, 10.0);
  for (int k = 0; k <= 15; ++k) frames.tip_at(0.03 + 0.001 * k, 0.0), frames.show(run);
  EXPECT_NEAR(part_of(run.result(), "task_overshoot"), 15.0, 1e-3);
  for (int k = 0; k <= 60; ++k) frames.tip_at(-0.03 + 0.001 * k, 0.0), frames.show(run);
  EXPECT_FALSE(run.feed().finished) << "the pedal is still down";
  frames.tip_at(0.0, 0.0, 0.05);
  frames.show(run, 151);
  EXPECT_NEAR(part_of(run.result(), "task_energy_in_air"), 1.0, 0.02);
  frames.tool.energy = Diathermy::Off;
  frames.show(run);
  EXPECT_TRUE(run.result().finished);
}

// A trainee who forgets the pedal is not kept waiting.
TEST(TaskRun, ABurntLineEndsAlsoWhileThePedalIsDown) {
  HandMadeFrames frames;
  TaskRun run(line_task(TaskKind::BurnLine), frames.stage());
  frames.removed.assign(run.marks().size(), 1);
  frames.cut(3);
  frames.tip_at(0.0, 0.0, 0.05);
  double enough = -1.0;
  while (!run.feed().finished && run.feed().elapsed < 10.0) {
    frames.show(run);
    if (enough < 0.0 && run.feed().progress > 0.99) enough = run.feed().elapsed;
  }
  EXPECT_TRUE(run.feed().done);
  EXPECT_NEAR(run.feed().elapsed - enough, 2.0, 0.05);
}

// The tissue on and around the line is removed by other means: the task can still be finished, without the hook.
TEST(TaskRun, RemovedTissueCountsAsBurnt) {
  HandMadeFrames frames;
  TaskRun run(line_task(TaskKind::BurnLine), frames.stage());
  frames.tip_at(0.0, 0.0, 0.05);
  frames.removed.assign(run.marks().size(), 0);
  std::fill_n(frames.removed.begin(), 10, std::uint8_t{1});
  frames.show(run, 5);
  EXPECT_NEAR(part_of(run.result(), "task_burnt"), 100.0 * 10 / 21, 1e-9);
  EXPECT_FALSE(run.feed().finished);
  frames.removed.assign(run.marks().size(), 1);
  frames.show(run, 2);
  EXPECT_TRUE(run.result().finished);
  EXPECT_EQ(part_of(run.result(), "task_burnt"), 100.0);
}

// An insulated shaft on tissue far from the line burns nothing.
TEST(TaskRun, ContactWithoutHeatIsNoBurn) {
  HandMadeFrames frames;
  TaskRun run(line_task(TaskKind::BurnLine), frames.stage());
  frames.cut(3);
  for (int k = 0; k <= 20; ++k) {
    frames.tip_at(-0.03 + 0.001 * k, 0.008);
    frames.tool.heats = 0;
    frames.show(run);
  }
  EXPECT_EQ(part_of(run.result(), "task_burnt_beside"), 0.0);
  EXPECT_EQ(part_of(run.result(), "task_burnt"), 0.0);
  EXPECT_EQ(run.feed().errors, 0u);
}

TEST(TaskRun, LiftsHoldsAndDrops) {
  TaskScene task = touch_task();
  task.kind = TaskKind::LiftOrgan, task.locations = {{"sheet", {0.f, 0.f, 0.f}}}, task.lift = 0.015;
  HandMadeFrames frames;
  TaskRun run(task, frames.stage());
  const auto lift_to = [&](float height) {
    frames.moved = height * glm::normalize(glm::vec3(0.f, 1.f, 1.f));
    frames.tip_at(frames.moved.x, frames.moved.y, HandMadeFrames::kRadius);
    frames.tool.pose.tip.z += double(frames.moved.z);
    frames.show(run);
  };
  frames.tool.grip = 1.0;
  frames.tip_at(0.0, 0.0);
  frames.show(run, 5);
  frames.tool.grip = 0.0;
  for (int k = 0; k <= 10; ++k) lift_to(0.001f * float(k));
  frames.tool.grip = 1.0;
  lift_to(0.010f);
  EXPECT_EQ(part_of(run.result(), "task_drops"), 1.0);
  lift_to(0.0f);
  frames.tool.grip = 0.0;
  for (int k = 0; k <= 16; ++k) lift_to(0.001f * float(k));
  EXPECT_FALSE(run.feed().finished) << "not held yet";
  frames.show(run, 25);
  const TaskResult result = run.result();
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(part_of(result, "task_grasps"), 2.0);
  EXPECT_NEAR(part_of(result, "task_highest"), 16.0, 1e-3);
}

TaskScene camera_task() {
  TaskScene task = touch_task();
  task.kind = TaskKind::NavigateCamera;
  task.instrument.clear();
  task.tolerance = 0.010;
  return task;
}

TEST(TaskRun, CameraCentresTheTargetAtCloseDistance) {
  const TaskScene task = camera_task();
  HandMadeFrames frames;
  TaskRun run(task, frames.stage());
  const auto look = [&](double x, double height) {
    frames.scope.port = {x, 0.0, 0.3}, frames.scope.eye = {x, 0.0, height};
    frames.show(run, 25);
  };
  // The scope is close enough where 10 mm fill 0.15 half heights: at 10 / (0.15 tan 30) = 115.5 mm.
  look(0.01, 0.117);
  EXPECT_EQ(run.feed().progress, 0.0);
  look(0.01 + 0.0101, 0.110);
  EXPECT_EQ(run.feed().progress, 0.0);
  look(0.01 + 0.005, 0.110);
  EXPECT_GE(run.feed().progress, 0.5);
  look(0.05, 0.110);
  EXPECT_TRUE(run.result().finished);
  EXPECT_NEAR(part_of(run.result(), "task_offset"), 2.5, 0.2);
}

TEST(TaskRun, CameraShowsNoTargetBehindAnOrgan) {
  const TaskScene task = camera_task();
  HandMadeFrames frames;
  TaskRun run(task, frames.stage());
  EXPECT_EQ(run.watched_marks(), 2u);
  frames.scope.port = {0.01, 0.0, 0.3}, frames.scope.eye = {0.01, 0.0, 0.110}, frames.hidden.marks = 1;
  frames.show(run, 50);
  EXPECT_EQ(run.feed().progress, 0.0);
  EXPECT_EQ(run.feed().warning, "an organ hides the target");
  frames.hidden.marks = 2;  // the next one; it does not matter yet
  frames.show(run, 25);
  EXPECT_GE(run.feed().progress, 0.5);
  EXPECT_EQ(TaskRun(touch_task(), frames.stage()).watched_marks(), 0u) << "only the camera shows targets";
}

TEST(TaskRun, ZonesCountEntriesAndTime) {
  TaskScene task = touch_task();
  task.kind = TaskKind::KeepOut, task.zones = {{{{0.3, -0.2}, {0.5, -0.2}, {0.5, 0.2}, {0.3, 0.2}}}};
  HandMadeFrames frames;
  TaskRun run(task, frames.stage());
  for (int visit = 0; visit < 2; ++visit) {
    frames.tip_at(-0.02, 0.0, 0.01);
    frames.tool.pose.pivot = {-0.02, 0.0, 0.14};  // seen along its axis
    frames.show(run, 50);
    // At the tip's depth of 140 mm, 0.4 half heights are 0.4 * 0.14 * tan 30 = 32.3 mm.
    frames.tool.pose.tip = {0.0323, 0.0, 0.01};
    frames.show(run, 50);
  }
  EXPECT_EQ(part_of(run.result(), "task_zone_entries"), 2.0);
  EXPECT_NEAR(part_of(run.result(), "task_zone_time"), 1.0, 1e-9);
  EXPECT_EQ(run.feed().errors, 2u);
  EXPECT_NE(run.feed().warning.find("inside the forbidden zone"), std::string::npos);
}

TEST(TaskRun, OnlyEventsAllocateInAFrame) {
  for (const TaskKind kind : {TaskKind::TouchTargets, TaskKind::FollowCurve, TaskKind::BurnLine}) {
    HandMadeFrames frames;
    TaskScene task = line_task(kind);
    task.zones = {{{{0.5, 0.5}, {0.6, 0.5}, {0.5, 0.6}}}};
    TaskRun run(task, frames.stage());
    frames.tip_at(0.0, 0.0);
    frames.show(run, 100);  // events, and buffers that grow
    const std::size_t events = run.result().events.size();
    const auto seen = frames.kept(run);
    const std::uint64_t before = allocations_so_far();
    for (int k = 0; k < 50; ++k) run.step(seen);
    EXPECT_EQ(allocations_so_far(), before) << "kind " << static_cast<int>(kind);
    EXPECT_EQ(run.result().events.size(), events);
  }
}

// Half of the task is done without a fault: the live score and the result are the same, progress times full grades.
TEST(TaskRun, TheScoreOfAnUnfinishedAttemptIsScaledByProgress) {
  HandMadeFrames frames;
  TaskScene task = touch_task();
  task.time_good = 99.0, task.time_limit = 100.0;
  TaskRun run(task, frames.stage());
  frames.tip_at(0.01, 0.0);
  frames.show(run, 25);
  EXPECT_GE(run.feed().progress, 0.5);
  EXPECT_DOUBLE_EQ(run.feed().score, 100.0 * run.feed().progress);
  EXPECT_EQ(run.result().score, run.feed().score);
}

// Tests the committed task scenes at every level: every target lies on its organ, is visible in the scope's initial
// view without occlusion, and can be touched by the instrument; zones leave the targets free.

// Does the segment from a to b intersect the face? Moeller, Trumbore 1997.
bool blocked(const glm::dvec3& a, const glm::dvec3& b, const Triangle& face) {
  const glm::dvec3 direction = b - a, u = face.b - face.a, v = face.c - face.a, p = glm::cross(direction, v);
  const double det = glm::dot(u, p);
  if (std::abs(det) < 1e-18) return false;
  const glm::dvec3 s = a - face.a, q = glm::cross(s, u);
  const double x = glm::dot(s, p) / det, y = glm::dot(direction, q) / det, t = glm::dot(v, q) / det;
  return x >= 0.0 && y >= 0.0 && x + y <= 1.0 && t > 0.0 && t < 1.0;
}

struct Target {
  glm::dvec3 at, normal;
};

class TaskScenes : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  TaskScenes()
      : scene_(with_level(load_scene(repository_file("data/scenes/tasks/" + std::get<0>(GetParam()) + ".toml")),
                          std::get<1>(GetParam()))) {
    for (const OrganScene& organ : scene_.organs) meshes_.push_back(load_mesh(organ.mesh));
    for (const TaskTarget& given : scene_.task->locations)
      for (std::size_t k = 0; k < meshes_.size(); ++k) {
        if (scene_.organs[k].name != given.organ) continue;
        const SurfaceMark mark = nearest_mark(static_cast<std::uint32_t>(k), meshes_[k].view(), given.location);
        const Triangle face = triangle_of(meshes_[k].positions, mark.vertex);
        targets_.push_back({glm::dvec3(position_of(mark, meshes_[k].positions)),
                            glm::normalize(glm::cross(face.b - face.a, face.c - face.a))});
        EXPECT_LT(glm::distance(targets_.back().at, glm::dvec3(given.location)), 0.006)
            << "targets in the file lie on organs";
      }
  }

  bool seen_from(const glm::dvec3& eye, const Target& target) const {
    const glm::dvec3 over = target.at + 5e-4 * target.normal;
    for (const TriangleMesh& mesh : meshes_)
      for (const glm::uvec3& face : mesh.faces)
        if (blocked(eye, over, triangle_of(mesh.positions, face))) return false;
    return true;
  }

  Scene scene_;
  std::vector<TriangleMesh> meshes_;
  std::vector<Target> targets_;
};

TEST_P(TaskScenes, EveryTargetIsInView) {
  ASSERT_TRUE(scene_.task);
  EXPECT_FALSE(scene_.task->title.empty());
  EXPECT_FALSE(scene_.task->instructions.empty());
  ASSERT_EQ(targets_.size(), scene_.task->locations.size());
  const ScopePose scope = scene_.scope.pose();
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const SeenPoint seen = seen_point(scope, scene_.scope.lens, targets_[k].at);
    EXPECT_TRUE(seen.visible) << "target " << k + 1;
    EXPECT_LT(std::abs(seen.location.y), 0.95) << "target " << k + 1 << ": outside the screen";
    EXPECT_TRUE(seen_from(scope.eye, targets_[k])) << "target " << k + 1 << " is hidden";
  }
}

TEST_P(TaskScenes, EveryTargetIsWithinReach) {
  EXPECT_GE(scene_.instruments.size(), 2u);
  for (const InstrumentScene& instrument : scene_.instruments) {
    if (instrument.name != scene_.task->instrument) continue;
    const RemoteCentre centre = remote_centre(instrument.pivot, instrument.tip - instrument.pivot);
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      DevicePose pose;
      pose.pivot = instrument.pivot, pose.tip = targets_[k].at;
      const Joints joints = joints_of(centre, instrument.limits, pose);
      const Joints within = limited(instrument.limits, joints);
      EXPECT_TRUE(within.pan_deg == joints.pan_deg && within.tilt_deg == joints.tilt_deg &&
                  within.depth == joints.depth)
          << "target " << k + 1;
      // With the other hand a target may lie on the flank, where the tip comes from the side.
      const double least = scene_.task->at_level < 3 ? 0.15 : -0.2;
      EXPECT_GT(glm::dot(targets_[k].normal, glm::normalize(instrument.pivot - targets_[k].at)), least)
          << "target " << k + 1 << " faces away";
      EXPECT_TRUE(seen_from(instrument.pivot, targets_[k])) << "an organ blocks the path to target " << k + 1;
    }
  }
}

TEST_P(TaskScenes, ZonesAreFreeOfTargetsAndOfInstrumentsAtTheStart) {
  const ScopePose scope = scene_.scope.pose();
  for (const TaskZone& outline : scene_.task->zones) {
    const planar::Zone zone(outline.outline, planar::ZoneKind::Forbidden);
    for (const InstrumentScene& instrument : scene_.instruments) {
      EXPECT_LT(depth_in_zone(zone, scope, {instrument.pivot, instrument.tip, instrument.radius}).half_heights, 0.0);
      if (instrument.name != scene_.task->instrument) continue;
      for (std::size_t k = 0; k < targets_.size(); ++k)
        EXPECT_LT(depth_in_zone(zone, scope, {instrument.pivot, targets_[k].at, instrument.radius}).half_heights, 0.0)
            << "target " << k + 1 << " cannot be touched without entering the zone";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskScenes,
                         ::testing::Combine(::testing::ValuesIn(test::task_scenes()), ::testing::Values(1, 2, 3)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_level_" + std::to_string(std::get<1>(info.param));
                         });

// Tests the texts that explain a grade and a critical error, and that doing nothing in a task is worth nothing.

using test::FramesAtRest;

// The time limit is 2 s, a frame 0.02 s: the task runs out of time.
TEST(EveryKindOfTask, DoingNothingIsWorthNothingAtAnyTime) {
  for (const TaskKind kind : test::kEveryKind) {
    FramesAtRest frames;
    TaskRun run(FramesAtRest::task(kind), frames.stage());
    int count = 0;
    while (!run.feed().finished && ++count < 1000) {
      run.step(frames.next(run));
      ASSERT_EQ(run.feed().score, 0.0) << name_of(kind) << ", frame " << count;
    }
    EXPECT_NEAR(run.feed().elapsed, 2.0, 0.021) << name_of(kind);
    EXPECT_FALSE(run.result().finished) << name_of(kind);
    EXPECT_EQ(run.result().score, 0.0) << name_of(kind);
  }
}

TEST(GradeTexts, NoSentenceIsUsedTwice) {
  std::set<std::string> sentences;
  for (const GradeSentences& row : grade_sentences()) {
    EXPECT_TRUE(sentences.insert(row.reason).second) << row.reason;
    EXPECT_TRUE(sentences.insert(row.advice).second) << row.advice;
  }
}

TEST(GradeTexts, SayValueAndThresholdsAndNothingWithoutAGrade) {
  const Metric time{"task_time", "", "s", 41.25, 25.0, 90.0};
  EXPECT_EQ(grade_text(time, "burn-line").why, "The task took 41.2 s (full grade up to 25 s, grade 0 from 90 s).");
  const Metric burnt{"task_burnt", "", "%", 50.0, 95.0, 40.0};
  EXPECT_EQ(grade_text(burnt, "burn-line").why,
            "The burnt share of the line was 50 % (full grade from 95 %, grade 0 down to 40 %).");
  EXPECT_NE(grade_text({"task_detour", "", "", 2.0, 1.2, 3.0}, "navigate-camera").why,
            grade_text({"task_detour", "", "", 2.0, 1.2, 3.0}, "keep-out").why);
  EXPECT_TRUE(grade_text({"task_time", "", "s", 41.25, {}, {}}, "").why.empty());
  EXPECT_TRUE(grade_text({"task_tremor", "", "mm", std::nan(""), 1.0, 2.0}, "").advice.empty());
  EXPECT_EQ(value_with_unit(1234.5, "mm"), "1234 mm");
  EXPECT_EQ(value_with_unit(0.125, ""), "0.125");
}

TEST(CriticalError, IsNamedAsTheReasonOfTheCap) {
  Attempt attempt;
  attempt.task = TaskResult{"clip-and-cut", "Clip", false, 30.0, {}, {}, "duct cut without a clip on both sides", true};
  EXPECT_EQ(cap_text(*attempt.task),
            "Critical error: duct cut without a clip on both sides. It ended the task, and the score is at most 30.");
  const auto json = nlohmann::json::parse(to_json(attempt));
  EXPECT_EQ(json["task"]["critical"]["error"], "duct cut without a clip on both sides");
  EXPECT_EQ(json["task"]["critical"]["cap"], 30.0);
  EXPECT_EQ(json["task"]["critical"]["text"], cap_text(*attempt.task));
  EXPECT_TRUE(cap_text({}).empty());
  attempt.task->critical = "artery cut";
  attempt.task->events = {{1.0, true, "critical: artery cut", true, true},
                          {9.0, true, "critical: the artery has lost more than 20 ml of blood", true, true}};
  EXPECT_EQ(
      cap_text(*attempt.task),
      "Critical error: artery cut. Then the task ended: the artery has lost more than 20 ml of blood. The score is "
      "at most 30.");
}

// Tests the measurements of tasks: distance along the surface, intermittent contact, paths, lines on tissue, zones in
// the picture.

TEST(TaskParts, DistanceFromATargetIsMeasuredAlongTheSurface) {
  EXPECT_DOUBLE_EQ(beside(std::hypot(0.004, 0.0025), 0.0025), 0.004);
  EXPECT_EQ(beside(0.0025, 0.0025), 0.0);
  EXPECT_EQ(beside(0.001, 0.0025), 0.0) << "the tip is pressed in";
}

TEST(TaskParts, IntermittentContactBeginsOnceAndEndsLate) {
  Lasting contact(0.1);
  EXPECT_FALSE(contact.see(false, 0.0));
  EXPECT_FALSE(contact.now());
  EXPECT_TRUE(contact.see(true, 1.0));
  EXPECT_FALSE(contact.see(false, 1.05));
  EXPECT_TRUE(contact.now());
  EXPECT_FALSE(contact.see(true, 1.09)) << "the same contact";
  contact.see(false, 1.25);
  EXPECT_FALSE(contact.now());
  EXPECT_TRUE(contact.see(true, 1.3));
}

TEST(TaskParts, PathLengthAndStraightLineDistance) {
  PathMeter path;
  for (const glm::dvec3& tip : {glm::dvec3(0, 0, 0), glm::dvec3(3, 0, 0), glm::dvec3(3, 4, 0)}) path.see(tip);
  path.reach();
  path.see({3, 4, 1});
  EXPECT_DOUBLE_EQ(path.reached(), 7.0);
  EXPECT_DOUBLE_EQ(path.direct(), 5.0);
  EXPECT_DOUBLE_EQ(path.length(), 8.0);
  EXPECT_TRUE(std::isnan(ratio(1.0, 0.0)));
}

TEST(TaskParts, LinesFollowTheSurfaceInShortSteps) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  const TaskStage stage{{"ball"}, {"probe"}, {ball.view()}};
  TaskScene task;
  task.locations = {{"ball", {0.f, 0.f, 0.05f}}, {"ball", {0.05f, 0.f, 0.f}}};
  const TissueLine line(task, stage);
  EXPECT_NEAR(line.length(), 0.05 * 1.5708, 0.001) << "a quarter of a great circle";
  for (const glm::vec3& point : line.points()) EXPECT_NEAR(glm::length(point), 0.05f, 0.0003f);
  const auto above = line.nearest({0.0, 0.0, 0.06}, 0, line.steps());
  EXPECT_NEAR(above.away, 0.01, 1e-4);
  EXPECT_NEAR(above.along, 0.0, 1e-4);
  EXPECT_TRUE(line.nearest({-0.02, 0.0, 0.05}, 0, line.steps()).beyond);
  EXPECT_FALSE(line.nearest({0.03, 0.0, 0.04}, 0, line.steps()).beyond);
}

// Many marks at once equal the marks one by one and lie at the expected positions.
TEST(TaskParts, MarksOfManyPoints) {
  const TriangleMesh ball = shapes::icosphere(3, 0.05f);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> any(-0.06f, 0.06f);
  std::vector<glm::vec3> points;
  for (int k = 0; k < 20; ++k) points.emplace_back(any(random), any(random), any(random));
  const auto marks = nearest_marks(3, ball.view(), points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const SurfaceMark one = nearest_mark(3, ball.view(), points[k]);
    EXPECT_TRUE(marks[k].organ == one.organ && marks[k].vertex == one.vertex && marks[k].weight == one.weight);
    EXPECT_NEAR(glm::length(position_of(one, ball.positions)), 0.05f, 0.001f);
  }
}

// Compares with sampling: points of the shaft's surface, projected by the scope, are inside the zone or not.
TEST(TaskParts, AShaftIsInAZoneIfItsProjectedSurfaceIs) {
  const std::vector<glm::dvec2> square = {{-0.2, -0.2}, {0.2, -0.2}, {0.2, 0.2}, {-0.2, 0.2}};
  const planar::Zone zone(square, planar::ZoneKind::Forbidden);
  const ScopePose scope{{0, -0.3, 0.4}, {0, -0.1, 0.25}, 0.0, 0.0, 55.0};
  const ScopeAxes axes = axes_of(scope);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(-0.06, 0.06), turn(0.0, 6.283185307179586);
  int inside = 0;
  for (int k = 0; k < 300; ++k) {
    const glm::dvec3 middle = scope.eye + 0.15 * axes.forward;
    const ToolPose tool{middle + glm::dvec3(0.12, any(random), 0.05),
                        middle + glm::dvec3(any(random), any(random), 0.0), 0.0025};
    // The outline of a thin shaft is, to first order, its axis shifted by the radius across the picture.
    bool sampled = false, nearly = false;
    for (int i = 0; i <= 400; ++i) {
      const glm::dvec3 point = glm::mix(tool.tip, tool.pivot, i / 400.0);
      for (int j = 0; j < 24; ++j) {
        const double angle = j * 6.283185307179586 / 24;
        const glm::dvec3 across = std::cos(angle) * axes.right + std::sin(angle) * axes.up;
        for (const double size : {0.85, 1.0, 1.15}) {
          const auto seen =
              planar::project_tool(image_camera(scope, 1.0), tool.pivot, point + size * tool.radius * across);
          const bool in = seen.visible && zone.contains(seen.shaft.b);
          if (size == 1.0) sampled = sampled || in;
          nearly = nearly || in;
        }
      }
    }
    const ZoneDepth depth = depth_in_zone(zone, scope, tool);
    inside += depth.half_heights > 0.0;
    if (sampled == nearly) {
      EXPECT_EQ(depth.half_heights > 0.0, sampled) << "seed 11, case " << k;
    }
  }
  EXPECT_GT(inside, 50);
  EXPECT_LT(inside, 290);
}

TEST(TaskParts, DepthInAZoneIsMeasuredAtTheInstrument) {
  const std::vector<glm::dvec2> half = {{0.0, -5.0}, {9.0, -5.0}, {9.0, 5.0}, {0.0, 5.0}};
  const planar::Zone zone(half, planar::ZoneKind::Forbidden);
  const ScopePose scope{{0, 0, 0.4}, {0, 0, 0.2}, 0.0, 0.0, 90.0};  // half height = depth
  // Across the picture at depth 100 mm, its tip 30 mm inside, and its end 2 mm farther.
  const ZoneDepth depth = depth_in_zone(zone, scope, {{-0.1, 0, 0.1}, {0.030, 0, 0.1}, 0.002});
  EXPECT_NEAR(depth.metres, 0.032, 1e-6);
  EXPECT_NEAR(depth.half_heights, 0.32, 1e-5);
  EXPECT_LT(depth_in_zone(zone, scope, {{-0.1, 0, 0.1}, {-0.0021, 0, 0.1}, 0.002}).half_heights, 0.0);
  EXPECT_GT(depth_in_zone(zone, scope, {{-0.1, 0, 0.1}, {-0.0019, 0, 0.1}, 0.002}).half_heights, 0.0);
  EXPECT_LT(depth_in_zone(zone, scope, {{0.1, 0, 0.5}, {0.030, 0, 0.45}, 0.002}).half_heights, 0.0)
      << "behind the lens";
}

// A mark is removed when no face contains it: dividing its face keeps it, removing the part around it does not.
TEST(MarkWatch, FollowsDividedFacesAndNoticesRemovedOnes) {
  const std::vector<glm::vec3> rest = {{0, 0, 0}, {0.01f, 0, 0}, {0, 0.01f, 0}, {0.005f, 0.005f, 0}};
  const SurfaceMark mark{0, {0, 1, 2}, {0.5f, 0.4f, 0.1f}}, other{0, {0, 1, 2}, {0.5f, 0.1f, 0.4f}};
  const std::vector<SurfaceMark> marks = {mark, other};
  MarkWatch watch(marks);
  const std::vector<glm::uvec3> whole = {{0, 1, 2}}, halves = {{0, 1, 3}, {0, 3, 2}}, half = {{0, 3, 2}};
  const std::vector<FaceId> first = {FaceId(0)}, both = {FaceId(1), FaceId(2)}, last = {FaceId(2)};
  const auto removed = [&] { return std::vector<int>(watch.removed().begin(), watch.removed().end()); };
  watch.look(0, {rest, whole}, first);
  EXPECT_EQ(removed(), (std::vector<int>{0, 0}));
  watch.look(0, {rest, halves}, both);
  EXPECT_EQ(removed(), (std::vector<int>{0, 0}));
  watch.look(0, {rest, half}, last);
  EXPECT_EQ(removed(), (std::vector<int>{1, 0}));
  watch.look(0, {rest, whole}, first);
  EXPECT_EQ(removed(), (std::vector<int>{1, 0})) << "removed marks stay removed";
  watch.look(1, {rest, {}}, {});
  EXPECT_EQ(removed(), (std::vector<int>{1, 0})) << "another organ";
  watch.rewind();
  watch.look(0, {rest, whole}, first);
  EXPECT_EQ(removed(), (std::vector<int>{0, 0}));
  watch.look(0, {rest, {}}, {});
  EXPECT_EQ(removed(), (std::vector<int>{1, 1}));
}

// Tests the depth of burns: distance from the surface at rest, bounded by the surfaces of neighbours.

// The depth of a hole is the distance of its walls from the surface at rest.
TEST(BurnDepth, IsTheDistanceFromTheSurfaceAtRest) {
  const TriangleMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2}, {1, 3, 2}}};
  BurnWatch burns(flat.view(), {});
  EXPECT_EQ(burns.deepest(), 0.0);
  burns.add({});
  EXPECT_EQ(burns.deepest(), 0.0);
  const std::vector<glm::vec3> walls = {{0.5f, 0.5f, -0.25f}, {0.2f, 0.2f, -0.5f}, {0.3f, 0.3f, 0.f}};
  burns.add(walls);
  EXPECT_NEAR(burns.deepest(), 0.5, 1e-7);
}

// Where a neighbour overlaps the organ at rest, its surface bounds the organ.
TEST(BurnDepth, DoesNotCountTissueInsideANeighbour) {
  const TriangleMesh flat{{{-9, -9, 0}, {9, -9, 0}, {0, 9, 0}}, {{0, 1, 2}}};
  const TriangleMesh ball = shapes::sphere_of(2000, 1.f);  // down to z = -1
  const std::vector<MeshView> neighbours = {ball.view()};
  BurnWatch burns(flat.view(), neighbours);
  burns.add(std::vector<glm::vec3>{{0.1f, 0.f, -0.5f}});
  EXPECT_EQ(burns.deepest(), 0.0);
  burns.add(std::vector<glm::vec3>{{0.f, 0.f, -1.25f}});
  EXPECT_NEAR(burns.deepest(), 0.25, 1e-3);
  burns.add(std::vector<glm::vec3>{{3.f, 0.f, -0.5f}});
  EXPECT_NEAR(burns.deepest(), 0.5, 1e-7) << "away from the neighbour";
}

// Tests points on the line through a duct, also before its start and behind its end.

TEST(DuctLine, PointsLieAlongIt) {
  const std::vector<glm::dvec3> line = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}};
  EXPECT_EQ(point_on_line(line, -1.0), line[0]);
  EXPECT_EQ(point_on_line(line, 0.25), glm::dvec3(0.25, 0, 0));
  EXPECT_EQ(point_on_line(line, 2.0), glm::dvec3(1, 1, 0));
  EXPECT_EQ(point_on_line(line, 9.0), line[2]);
}

// Tests the lines of ducts as scripted trainees see them.

// Two straight ducts along x, organs 1 and 2, 100 mm apart; organ 0 is no duct.
class Ducts : public ::testing::Test {
 protected:
  Ducts() {
    for (const double y : {0.0, 0.1}) {
      TubeShape shape;
      shape.path = {{0, y, 0}, {0.04, y, 0}};
      tubes_.push_back(tube_surface(shape));
      stage_.lines.push_back(centre_line(shape));
    }
    stage_.lines.insert(stage_.lines.begin(), std::vector<glm::dvec3>{});
    show();
    stage_.surfaces = {{}, tubes_[0].view(), tubes_[1].view()};
  }
  void show() {
    organs_.assign(3, {});
    for (std::size_t k = 0; k < 2; ++k) organs_[k + 1].surface = tubes_[k].view();
  }

  std::vector<TriangleMesh> tubes_;
  TaskStage stage_;
  std::vector<SeenOrgan> organs_;
};

TEST_F(Ducts, ClearanceAtRestIsTheDistanceFromTheWalls) {
  DuctPoints ducts(stage_);
  ducts.follow(organs_);
  std::mt19937 random(3501);
  std::printf("seed 3501\n");
  const auto number = [&] { return 0.2 * (static_cast<double>(random()) / 4294967296.0 - 0.5); };
  const auto distance = [](const glm::dvec3& p, double y) {
    const glm::dvec3 nearest(std::clamp(p.x, 0.0, 0.04), y, 0.0);
    return glm::distance(p, nearest) - TubeShape().radius;
  };
  for (int round = 0; round < 1000; ++round) {
    const double x = number(), y = number(), z = number(), u = number(), v = number(), w = number();
    const glm::dvec3 from(x, y, z), to(u, v, w);
    EXPECT_NEAR(ducts.clearance(from, from), std::min(distance(from, 0.0), distance(from, 0.1)), 1e-7);
    double sampled = INFINITY;
    for (int k = 0; k <= 400; ++k) {
      const glm::dvec3 p = glm::mix(from, to, k / 400.0);
      sampled = std::min({sampled, distance(p, 0.0), distance(p, 0.1)});
    }
    EXPECT_LE(ducts.clearance(from, to), sampled + 1e-7);
    EXPECT_GE(ducts.clearance(from, to), sampled - 1e-3);
  }
}

// A duct that is moved and turned: its line lies in the middle of its surface.
TEST_F(Ducts, MoveWithTheSurface) {
  DuctPoints ducts(stage_);
  const auto turn = [](const glm::dvec3& p) {
    const double c = std::cos(0.6), sine = std::sin(0.6);
    return glm::dvec3(c * p.x - sine * p.y + 0.01, sine * p.x + c * p.y - 0.02, p.z + 0.03);
  };
  for (glm::vec3& p : tubes_[0].positions) p = glm::vec3(turn(p));
  show();
  ducts.follow(organs_);
  for (double x = 0.0; x <= 0.04; x += 0.002) {
    const glm::dvec3 middle = turn({x, 0, 0}), beside = turn({x, 0.005, 0});
    EXPECT_NEAR(ducts.clearance(middle, middle), -TubeShape().radius, 6e-4);
    EXPECT_NEAR(ducts.clearance(beside, beside), 0.005 - TubeShape().radius, 6e-4);
  }
  EXPECT_NEAR(ducts.clearance({0.02, 0.1, 0.0}, {0.02, 0.1, 0.0}), -TubeShape().radius, 1e-7);
}

TEST_F(Ducts, WithoutDuctsEverythingIsClear) {
  DuctPoints none{TaskStage{}};
  none.follow(organs_);
  EXPECT_EQ(none.clearance({0, 0, 0}, {1, 1, 1}), INFINITY);
  EXPECT_EQ(DuctPoints().clearance({0, 0, 0}, {1, 1, 1}), INFINITY);
}

// Tests the measurement of tremor: the filter against the closed form of its gain, and the choice of frames.

// Amplitude of the filter's answer to a sine wave of 1 m, after it has settled.
double gain(double frequency, double dt) {
  TremorFilter filter;
  filter.begin({});
  double most = 0.0;
  for (int k = 0; k * dt < 20.0; ++k) {
    const double value = filter.step({std::sin(kFullTurn * frequency * k * dt), 0.0, 0.0}, dt).x;
    if (k * dt > 10.0) most = std::max(most, std::abs(value));
  }
  return most;
}

// |H|^2 = 1 / (1 + (tan(pi f0 dt) / tan(pi f dt))^8) for the bilinear transform of the analogue filter.
TEST(TremorFilter, HasTheGainOfAFourthOrderButterworthFilter) {
  for (const double dt : {1.0 / 60.0, 1.0 / 240.0})
    for (const double frequency : {0.7, 2.3, 4.0, 5.0, 6.3, 9.1, 13.7}) {
      const double ratio =
          std::tan(0.5 * kFullTurn * TremorFilter::kLowest * dt) / std::tan(0.5 * kFullTurn * frequency * dt);
      const double expected = 1.0 / std::sqrt(1.0 + std::pow(ratio, 8.0));
      EXPECT_NEAR(gain(frequency, dt), expected, 0.004) << frequency << " Hz, step " << dt;
    }
}

TEST(TremorFilter, TheStartPositionDoesNotMatter) {
  TremorFilter near, far;
  near.begin({}), far.begin({3.0, -2.0, 1.0});
  for (int k = 0; k < 200; ++k) {
    const glm::dvec3 at(0.001 * std::sin(0.7 * k), 0.002 * k, 0.0);
    EXPECT_LT(glm::distance(near.step(at, 0.01), far.step(at + glm::dvec3(3.0, -2.0, 1.0), 0.01)), 1e-12);
  }
}

class Tremor : public ::testing::Test {
 protected:
  Tremor() {
    task_.kind = TaskKind::TouchTargets, task_.locations = {{"sheet", {0.f, 0.f, 0.f}}}, task_.most_tremor = 0.0002;
  }
  // Moves the tip along `path` for `duration`, in frames of the support's step.
  template <typename Path>
  double measured(double duration, const Path& path) {
    TremorWatch watch(task_, frames_.stage());
    const TaskRun marks(task_, frames_.stage());
    for (double time = 0.0; time < duration; time += frames_.kDt) {
      frames_.tool.pose.tip = path(time);
      watch.step(frames_.kept(marks), time > 0.0 ? frames_.kDt : 0.0);
    }
    return watch.rms();
  }
  TaskScene task_;
  test::HandMadeFrames frames_;
};

TEST_F(Tremor, IsTheRootMeanSquareOfASineWave) {
  const double rms =
      measured(6.0, [](double t) { return glm::dvec3(0.0004 * std::sin(kFullTurn * 9.0 * t), 0.0, 0.05); });
  EXPECT_NEAR(rms, 0.0004 / std::sqrt(2.0), 0.00001);
}

TEST_F(Tremor, ATraceAtSteadySpeedHasNone) {
  EXPECT_LT(measured(4.0, [](double t) { return glm::dvec3(0.02 * t, 0.0, 0.05); }), 2e-6);
}

TEST_F(Tremor, FastMovementIsLeftOut) {
  // Back and forth by 60 mm in half a second, with a rest of a second in between.
  const auto path = [](double t) {
    const double turn = std::fmod(t, 3.0);
    const double there = minimum_jerk(turn / 0.5) - minimum_jerk((turn - 1.5) / 0.5);
    return glm::dvec3(0.06 * there, 0.0, 0.05);
  };
  EXPECT_LT(measured(12.0, path), 0.00006);
}

TEST_F(Tremor, HasNoValueWithoutSlowMovementOrInLongSteps) {
  EXPECT_TRUE(std::isnan(measured(0.9, [](double) { return glm::dvec3(0.0, 0.0, 0.05); }))) << "too short";
  EXPECT_TRUE(std::isnan(measured(5.0, [](double t) { return glm::dvec3(0.1 * t, 0.0, 0.05); }))) << "fast";
  TremorWatch watch(task_, frames_.stage());
  const TaskRun marks(task_, frames_.stage());
  for (int k = 0; k < 200; ++k) watch.step(frames_.kept(marks), 0.06);
  EXPECT_TRUE(std::isnan(watch.rms())) << "16 frames a second";
}

TEST_F(Tremor, IsGradedOnlyWithALimit) {
  TaskRun graded(task_, frames_.stage());
  frames_.show(graded, 300);
  EXPECT_NEAR(test::part_of(graded.result(), "task_tremor"), 0.0, 1e-9);
  task_.most_tremor = 0.0;
  TaskRun plain(task_, frames_.stage());
  frames_.show(plain, 300);
  for (const Metric& part : plain.result().parts) EXPECT_NE(part.id, "task_tremor");
}

// Tests the task "clip and cut" with frames made by hand: progress, errors, critical errors that end it; and
// faults of its scene.

// A duct of 40 mm that is to be divided in its middle, another duct, and a sheet of other tissue.
class ClipAndCutRules : public ::testing::Test {
 protected:
  enum Organ : std::uint32_t { kDuct, kOther, kLiver };

  ClipAndCutRules() {
    shape_.path = {{0, 0, 0}, {0.04, 0, 0}};
    mesh_ = tube_surface(shape_);
    task_.kind = TaskKind::ClipAndCut, task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
    task_.most_force = 100.0;
    TaskStage stage{{"duct", "other duct", "liver"}, {"applier", "scissors"}, {}, {}, {}};
    stage.surfaces.assign(3, mesh_.view());
    stage.lines = {centre_line(shape_), centre_line(shape_), {}};
    run_.emplace(task_, stage);
    tools_.resize(2);
    for (SeenTool& tool : tools_) tool.pose = {{0, 0, 0.2}, {0, 0, 0.1}, 0.0025};
    organs_.resize(3);
    tubes_.resize(3);
    first_.assign(3, 0);
    for (SeenOrgan& organ : organs_) organ.touches = {{}, first_};
  }

  void clip(std::uint32_t organ, double along, float closed = 1.f) {
    PlacedClip placed;
    placed.clip.organ = organ, placed.clip.count = organ == kNoOrgan ? 0 : 4, placed.along = static_cast<float>(along);
    placed.closed = closed;
    clips_.push_back(placed);
    show();
  }
  void divide(std::uint32_t organ, std::uint32_t at_start, std::uint32_t at_end, double at = 0.02) {
    tubes_[organ] = {true, at_start, at_end, static_cast<float>(at)};
    show();
  }
  void show(int frames = 1) {
    for (int k = 0; k < frames; ++k, time_ += 0.02) {
      marks_.clear();
      for (const SurfaceMark& mark : run_->marks()) marks_.push_back(position_of(mark, mesh_.positions));
      Observation seen{time_, tools_, organs_, marks_, {}, {}, {}, clips_, tubes_};
      seen.bleeding.sources = sources_, seen.bleeding.lost = lost_;
      run_->step(seen);
    }
  }
  std::string last_event() const { return run_->result().events.empty() ? "" : run_->result().events.back().text; }
  std::size_t errors() const { return run_->feed().errors; }

  TubeShape shape_;
  TriangleMesh mesh_;
  TaskScene task_;
  std::optional<TaskRun> run_;
  std::vector<SeenTool> tools_;
  std::vector<SeenOrgan> organs_;
  std::vector<PlacedClip> clips_;
  std::vector<TubeState> tubes_;
  std::vector<BleedSource> sources_;
  std::vector<FluidLoss> lost_;
  std::vector<std::uint32_t> first_;
  std::vector<glm::vec3> marks_;
  double time_ = 1.0;
};

TEST_F(ClipAndCutRules, TwoClipsOnTheSideThatStaysOneOnTheOtherAndACut) {
  show();
  EXPECT_EQ(run_->feed().hint, "duct: clip 1 of 2 on the side that stays");
  clip(kDuct, 0.010);
  EXPECT_NEAR(run_->feed().progress, 0.15, 1e-9);
  clip(kDuct, 0.026);
  EXPECT_NEAR(run_->feed().progress, 0.35, 1e-9);
  clip(kDuct, 0.015);
  EXPECT_EQ(run_->feed().hint, "duct: cut between the clips");
  EXPECT_FALSE(run_->feed().finished);
  divide(kDuct, 2, 1, 0.021);
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(errors(), 0u);
  EXPECT_EQ(run_->result().score, 100.0);
  EXPECT_TRUE(run_->result().finished);
}

TEST_F(ClipAndCutRules, EachFaultIsItsOwnError) {
  clip(kNoOrgan, 0.0);
  EXPECT_EQ(last_event(), "a clip closed on nothing");
  clip(kDuct, 0.01, 0.5f);
  EXPECT_EQ(last_event(), "a clip does not close the duct");
  EXPECT_NEAR(run_->feed().progress, 0.0, 1e-9);
  clip(kDuct, 0.01);
  clips_.back().clip.count = 0;
  show();
  EXPECT_EQ(last_event(), "a clip came off");
  organs_[kLiver].faces_removed = 3;
  show(3);
  EXPECT_EQ(last_event(), "the liver is cut");
  EXPECT_EQ(errors(), 4u) << "a cut of several frames counts once";
  organs_[kLiver].faces_removed = 0;
  clip(kDuct, 0.012);
  clip(kDuct, 0.03);
  divide(kDuct, 1, 1);
  EXPECT_EQ(errors(), 5u);
  EXPECT_FALSE(run_->feed().finished);
  EXPECT_EQ(run_->feed().hint, "duct: clip 2 of 2 on the side that stays");
  divide(kDuct, 2, 1);
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_LT(run_->result().score, 85.0);
}

TEST_F(ClipAndCutRules, CriticalErrorsEndTheTask) {
  struct Case {
    const char* text;
    std::function<void()> fault;
  };
  clip(kDuct, 0.01);
  clip(kDuct, 0.015);
  clip(kDuct, 0.03);
  const TaskStage stage = {{"duct", "other duct", "liver"},
                           {"applier", "scissors"},
                           {mesh_.view(), mesh_.view(), mesh_.view()},
                           {},
                           {centre_line(shape_), centre_line(shape_), {}}};
  for (const Case& each : {Case{"critical: other duct cut", [&] { divide(kOther, 0, 0); }},
                           Case{"critical: a clip on the other duct", [&] { clip(kOther, 0.01); }}}) {
    run_.emplace(task_, stage);
    tubes_.assign(3, {});
    show();
    each.fault();
    EXPECT_EQ(last_event(), each.text);
    EXPECT_TRUE(run_->feed().finished);
    EXPECT_FALSE(run_->result().finished);
    EXPECT_LE(run_->result().score, 30.0);
    EXPECT_EQ(run_->feed().hint, each.text);
    clips_.resize(3);
  }
}

// A duct that is cut without clips caps the score, and is to be closed: the task ends when it is.
TEST_F(ClipAndCutRules, ACutDuctStaysOpenUntilItIsClosed) {
  show();
  divide(kDuct, 0, 1);
  EXPECT_EQ(last_event(), "critical: duct cut without a clip on both sides");
  EXPECT_EQ(run_->feed().warning, "the duct is open: close its end with 2 clips");
  EXPECT_FALSE(run_->feed().finished);
  tubes_[kDuct].clips_at_start = 2;
  show();
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_TRUE(run_->result().finished);
  EXPECT_LE(run_->result().score, 30.0);
  EXPECT_EQ(cap_text(run_->result()),
            "Critical error: duct cut without a clip on both sides. The score is at most 30.");
}

// A vessel that bleeds after a cut without clips caps the score; too much blood ends the task.
TEST_F(ClipAndCutRules, ACutVesselBleedsUntilTooMuchIsLost) {
  task_.limits = {{"duct", 0.0, false, 20.0, 0.0}};
  TaskStage stage{{"duct", "other duct", "liver"},
                  {"applier", "scissors"},
                  {mesh_.view(), mesh_.view(), mesh_.view()},
                  {},
                  {centre_line(shape_), centre_line(shape_), {}}};
  run_.emplace(task_, stage);
  lost_.resize(3);
  show();
  sources_.push_back({kDuct, 0, BleedKind::Vessel, BleedState::Flows, 6e-7, 0.0, 0.0});
  divide(kDuct, 0, 0);
  EXPECT_EQ(run_->result().critical, "duct cut without a clip on both sides");
  EXPECT_FALSE(run_->feed().finished);
  lost_[kDuct].blood = 19.0 * kMillilitre;
  show();
  EXPECT_FALSE(run_->feed().finished);
  lost_[kDuct].blood = 21.0 * kMillilitre;
  show();
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(last_event(), "critical: the duct has lost more than 20 ml of blood");
  EXPECT_LE(run_->result().score, 30.0);
  const std::vector<Metric> parts = run_->result().parts;
  const auto blood = std::ranges::find(parts, "task_blood", &Metric::id);
  ASSERT_NE(blood, parts.end());
  EXPECT_NEAR(blood->value, 21.0, 1e-9);
  EXPECT_EQ(mark_of(*blood), 0.0);
}

class ClipAndCutScene : public test::SceneText {
 protected:
  ClipAndCutScene() : SceneText(test::shipped_scene(kShipped)) {}

  static constexpr const char* kShipped = "data/scenes/tasks/clip_and_cut.toml";
};

TEST_F(ClipAndCutScene, FaultsAreOneSentence) {
  expect_sentence(with("organ = \"cystic duct\"\nat_mm", "organ = \"liver\"\nat_mm"), "liver has no [organ.tube]");
  expect_sentence(with("organ = \"cystic artery\"\nat_mm", "organ = \"cystic duct\"\nat_mm"), "only once");
  expect_sentence(with("kind = \"clip-applier\"", "kind = \"probe\""), "needs an instrument of the kind clip-applier");
  expect_sentence(with("stays = \"end\"", "stays = \"left\""), "stays: must be start or end");
  expect_sentence(with("most_blood_ml = 20", "most_bile_ml = 20"), "holds no bile");
  expect_sentence(with("most_blood_ml = 20", "deepest_burn_mm = 2"), "only most_blood_ml in clip-and-cut");
}

// Tests the task "operation" with frames made by hand: progress of each kind of step, order, limits, and the critical
// errors that end it.

// An organ on ten fibres, which a grasper moves, and a duct.
class OperationRules : public ::testing::Test {
 protected:
  enum Organ : std::uint32_t { kOrgan, kDuct, kBystander };
  enum Tool : std::size_t { kGrasper, kHook };

  OperationRules() {
    shape_.path = {{0, 0, 0}, {0.04, 0, 0}};
    duct_ = tube_surface(shape_);
    organ_ = {{{-0.05f, -0.05f, 0.f}, {0.05f, -0.05f, 0.f}, {0.f, 0.05f, 0.f}}, {{0, 1, 2}}};
    stage_.organs = {"organ", "duct", "bystander"}, stage_.instruments = {"grasper", "hook"};
    bystander_ = {{{1.f, 0.f, 0.f}, {1.1f, 0.f, 0.f}, {1.f, 0.1f, 0.f}}, {{0, 1, 2}}};
    stage_.surfaces = {organ_.view(), duct_.view(), bystander_.view()};
    stage_.jaws.resize(2);
    stage_.kinds = {InstrumentKind::Grasper, InstrumentKind::Hook}, stage_.lines = {{}, centre_line(shape_), {}},
    stage_.tissue = {"bed", "band"};
    for (int k = 0; k < 10; ++k) stage_.fibres.push_back({k < 8 ? 0u : 1u, {0.01f * static_cast<float>(k), 0.f, 0.f}});
    task_.kind = TaskKind::Operation, task_.most_force = 100.0;
    tools_.resize(2);
    for (SeenTool& tool : tools_) tool.pose = {{0, 0, 0.2}, {0, 0, 0.1}, 0.0025};
    organs_.resize(3);
    tubes_.resize(3);
    first_.assign(3, 0);
    for (SeenOrgan& organ : organs_) organ.touches = {{}, first_};
    intact_.assign(10, 1);
    ends_.resize(10);
  }

  void begin(std::vector<TaskStep> steps) {
    task_.steps = std::move(steps);
    run_.emplace(task_, stage_);
    show();
  }
  static TaskStep retract(double lift = 0.02) {
    TaskStep step;
    step.title = "retract", step.organ = "organ", step.lift = lift, step.hold = 0.1;
    return step;
  }
  static TaskStep dissect(std::vector<StepTissue> tissue) {
    TaskStep step;
    step.kind = StepKind::Dissect, step.title = "dissect", step.tissue = std::move(tissue);
    return step;
  }
  static TaskStep of(StepKind kind) {
    TaskStep step;
    step.kind = kind, step.title = "other", step.organ = kind == StepKind::Remove ? "organ" : "";
    step.lift = 0.05, step.hold = 0.1;
    return step;
  }

  // Moves the organ with the grasper, which holds it or has let go.
  void move_organ(float by, bool held = true) {
    moved_ = {0.f, 0.f, by};
    tools_[kGrasper].pose.tip = glm::dvec3(0.0, 0.0, double(by) + 0.002), tools_[kGrasper].grip = held ? 0.0 : 1.0;
    show(8);
  }
  void break_fibres(std::vector<std::uint32_t> fibres, FibreBreak how = FibreBreak::Burnt) {
    how_.assign(fibres.size(), how);
    broken_ = std::move(fibres);
    for (const std::uint32_t f : broken_) intact_[f] = 0;
    show();
    broken_.clear(), how_.clear();
  }
  void divide_duct() {
    tubes_[kDuct] = {true, 2, 1, 0.02f};
    show();
  }
  void heat(Organ organ, std::vector<glm::vec3> walls) {
    tools_[kHook].energy = Diathermy::Cut, tools_[kHook].heats = organ_bit(organ);
    organs_[organ].new_rest = walls, organs_[organ].faces_removed = 5;
    show();
    tools_[kHook].energy = Diathermy::Off, tools_[kHook].heats = 0;
    organs_[organ].new_rest = {}, organs_[organ].faces_removed = 0;
  }
  void show(int frames = 1) {
    for (int k = 0; k < frames; ++k, time_ += 0.02) {
      marks_.clear();
      for (const SurfaceMark& mark : run_->marks())
        marks_.push_back(mark.organ == kDuct ? position_of(mark, duct_.positions)
                                             : position_of(mark, organ_.positions) + moved_);
      run_->step({time_,
                  tools_,
                  organs_,
                  marks_,
                  {},
                  {},
                  {},
                  clips_,
                  tubes_,
                  {intact_, ends_, broken_, how_},
                  {sources_, lost_, fluids_}});
    }
  }
  void blood_on_organs(double ml) { fluids_.on[static_cast<std::size_t>(FilmFluid::Blood)] = ml * kMillilitre; }
  std::string last_event() const { return run_->result().events.empty() ? "" : run_->result().events.back().text; }
  double metric(const std::string& id) const {
    for (const Metric& part : run_->result().parts)
      if (part.id == id) return part.value;
    ADD_FAILURE() << "no metric " << id;
    return NAN;
  }

  TubeShape shape_;
  TriangleMesh duct_, organ_, bystander_;
  TaskStage stage_;
  TaskScene task_;
  std::optional<TaskRun> run_;
  std::vector<SeenTool> tools_;
  std::vector<SeenOrgan> organs_;
  std::vector<PlacedClip> clips_;
  std::vector<TubeState> tubes_;
  std::vector<std::uint32_t> first_, broken_;
  std::vector<std::uint8_t> intact_;
  std::vector<FibreEnds> ends_;
  std::vector<FibreBreak> how_;
  std::vector<glm::vec3> marks_;
  std::vector<BleedSource> sources_;
  std::vector<FluidLoss> lost_;
  FluidAmounts fluids_;
  glm::vec3 moved_{0.f};
  double time_ = 1.0;
};

TEST_F(OperationRules, AnOrganIsRetractedWhenAGrasperHoldsItFarEnough) {
  begin({retract()});
  EXPECT_EQ(run_->feed().step, 0u);
  move_organ(0.025f, false);
  EXPECT_EQ(run_->feed().progress, 0.0) << "no jaws hold it";
  EXPECT_EQ(run_->feed().hint, "1 of 1: retract (grasper), grasp it at its mark");
  move_organ(0.010f);
  EXPECT_NEAR(run_->feed().progress, 0.4, 1e-6);
  EXPECT_EQ(run_->feed().hint, "1 of 1: retract (grasper), 10 mm more");
  EXPECT_FALSE(run_->feed().finished);
  move_organ(0.021f);
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(run_->result().score, 100.0);
}

TEST_F(OperationRules, TissueIsDissectedWhenEnoughOfItsFibresAreBroken) {
  // The half of the bed that is nearest to the origin: fibres 0 to 3.
  begin({dissect({{"bed", {0.f, 0.f, 0.f}, 0.5}})});
  break_fibres({4, 5, 6, 7, 8, 9});
  EXPECT_EQ(run_->feed().progress, 0.0);
  break_fibres({0, 1});
  EXPECT_NEAR(run_->feed().progress, 0.5 / 0.95, 1e-9);
  EXPECT_EQ(run_->feed().hint, "1 of 1: dissect (hook), 53 %");
  break_fibres({2, 3}, FibreBreak::Torn);
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(metric("task_torn"), 50.0);
}

TEST_F(OperationRules, AnyOrderIsAcceptedAndRemovalComesLast) {
  begin({retract(), dissect({{"bed", {}, 1.0}}), dissect({{"band", {}, 1.0}}), of(StepKind::Remove)});
  break_fibres({8, 9});
  EXPECT_EQ(run_->feed().step, 0u);
  move_organ(0.06f);
  EXPECT_EQ(run_->feed().step, 1u);
  EXPECT_NEAR(run_->feed().progress, 0.5, 1e-9) << "removed before it is free";
  break_fibres({0, 1, 2, 3, 4, 5, 6, 7});
  show(8);
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(run_->result().score, 100.0);
}

TEST_F(OperationRules, RemovalIsMeasuredTowardsTheTrocar) {
  begin({of(StepKind::Remove)});
  move_organ(-0.1f);
  EXPECT_EQ(run_->feed().progress, 0.0) << "it has fallen, and is grasped where it lies";
  EXPECT_EQ(run_->feed().hint, "1 of 1: other (grasper), 50 mm more");
  move_organ(0.06f, false);
  EXPECT_EQ(run_->feed().progress, 0.0) << "no jaws hold it";
  move_organ(0.06f);
  EXPECT_TRUE(run_->feed().finished);
}

TEST_F(OperationRules, ADuctWithoutClipsIsCutWhereTheTaskSaysSo) {
  task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}}, task_.rules.clips_staying = 0.0;
  begin({of(StepKind::Divide)});
  EXPECT_EQ(run_->feed().hint, "1 of 1: other; duct: cut at the target");
  tubes_[kDuct] = {true, 0, 0, 0.02f};
  show();
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(run_->result().score, 100.0);
}

// The mark of a step that divides strands lies on one that is away from the duct, although the middle of all lies on
// it.
TEST_F(OperationRules, TheMarkKeepsAwayFromDucts) {
  stage_.lines.resize(stage_.organs.size());
  stage_.lines[kDuct] = {{0.0, 0.0, 0.0}, {0.04, 0.0, 0.0}};
  ends_.assign(ends_.size(), {{0.02f, 0.f, 0.f}, {0.02f, 0.f, 0.f}});
  ends_[0] = {{0.02f, 0.012f, 0.f}, {0.02f, 0.012f, 0.002f}},
  ends_[1] = {{0.02f, -0.013f, 0.f}, {0.02f, -0.013f, 0.002f}};
  begin({dissect({{"bed", {}, 1.0}}), retract()});
  show();
  const auto mark = [&] {
    DrawnMarks marks;
    run_->draw(marks);
    return marks.targets.empty() ? glm::vec3(0.f) : marks.targets[0].location;
  };
  EXPECT_NEAR(mark().y, 0.012f, 1e-6f);
  break_fibres({0});
  EXPECT_NEAR(mark().y, -0.013f, 1e-6f);
  break_fibres({1});
  EXPECT_NEAR(mark().y, 0.f, 1e-6f) << "no other is left";
}

// Points for each criterion: nothing done, half of it, all of it. The bystander is a plate in front of the window.
TEST_F(OperationRules, TheCriticalViewCountsAtTheFirstDivision) {
  const auto points_with = [&](float covered_to, const std::vector<std::uint32_t>& broken) {
    TaskStep clear = of(StepKind::Clear), bed = dissect({{"bed"}});
    clear.sides = {{"duct", {0.01f, 0.f, 0.f}, {0.03f, 0.f, 0.f}, 0.003},
                   {"organ", {0.01f, 0.02f, 0.f}, {0.03f, 0.02f, 0.f}, 0.001}};
    clear.gone = {{"bystander"}}, clear.share = bed.share = 1.0;
    clear.before_division = bed.before_division = true;
    bystander_ = {
        {{-0.1f, -0.1f, 0.005f}, {covered_to, -0.1f, 0.005f}, {covered_to, 0.1f, 0.005f}, {-0.1f, 0.1f, 0.005f}},
        {{0, 1, 2}, {0, 2, 3}}};
    organs_[kBystander].surface = bystander_.view();
    task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
    intact_.assign(10, 1), tubes_.assign(3, {});
    begin({clear, bed, of(StepKind::Divide)});
    if (!broken.empty()) break_fibres(broken);
    EXPECT_EQ(metric("task_view"), 0.0) << "nothing is clipped yet";
    divide_duct();
    return metric("task_view");
  };
  EXPECT_EQ(points_with(0.1f, {}), 0.0);
  EXPECT_EQ(points_with(0.1f, {0, 1, 2, 3}), 1.0) << "half of the bed";
  EXPECT_EQ(points_with(0.1f, {0, 1, 2, 3, 4, 5, 6, 7}), 2.0);
  EXPECT_EQ(points_with(0.013f, {}), 1.0) << "half of the triangle, and no duct wholly free";
  EXPECT_EQ(points_with(-0.05f, {}), 4.0);
  EXPECT_EQ(points_with(-0.05f, {0, 1, 2, 3, 4, 5, 6, 7}), 6.0);
  const std::vector<TaskEvent> events = run_->result().events;
  EXPECT_EQ(std::ranges::count(events, "critical view of safety: 6 of 6 (two structures 2, cystic plate 2, triangle 2)",
                               &TaskEvent::text),
            1);
}

TEST_F(OperationRules, DividingTooEarlyEndsTheOperation) {
  task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
  TaskStep view = dissect({{"bed", {}, 1.0}});
  view.before_division = true;
  begin({view, of(StepKind::Divide)});
  PlacedClip clip;
  clip.clip.organ = kDuct, clip.clip.count = 4, clip.along = 0.01f, clip.closed = 1.f;
  clips_.push_back(clip);
  show();
  EXPECT_EQ(last_event(), "a clip before this step was done: dissect");
  EXPECT_FALSE(run_->feed().finished);
  divide_duct();
  EXPECT_EQ(last_event(), "critical: divided before this step was done: dissect");
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_FALSE(run_->result().finished);
  EXPECT_LE(run_->result().score, 30.0);
}

// A vessel that bleeds can still be saved: the score is capped, and the operation goes on until too much blood is lost.
TEST_F(OperationRules, AVesselThatIsCutWithoutClipsCanBeSaved) {
  for (const bool saved : {true, false}) {
    task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
    task_.limits = {{"duct", 0.0, false, 20.0, 0.0}};
    tubes_[kDuct] = {}, sources_.clear(), clips_.clear();
    lost_ = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    begin({of(StepKind::Divide), retract()});
    show();
    sources_.push_back({kDuct, 0, BleedKind::Vessel, BleedState::Flows, 6e-7, 0.0, 0.0});
    tubes_[kDuct] = {true, 0, 0, 0.02f};
    lost_[kDuct].blood = 1.0 * kMillilitre;
    show();
    EXPECT_EQ(last_event(), "critical: duct cut without a clip on both sides");
    EXPECT_FALSE(run_->feed().finished);
    EXPECT_EQ(run_->result().critical, "duct cut without a clip on both sides");
    EXPECT_EQ(run_->feed().warning, "the duct bleeds: press on it, then close it with a clip or by heat");
    lost_[kDuct].blood = 5.0 * kMillilitre;
    show(10);
    if (!saved) {
      lost_[kDuct].blood = 21.0 * kMillilitre;
      show();
      EXPECT_EQ(last_event(), "critical: the duct has lost more than 20 ml of blood");
      EXPECT_TRUE(run_->feed().finished);
      EXPECT_TRUE(run_->result().ended_by_critical);
      EXPECT_EQ(run_->result().critical, "duct cut without a clip on both sides") << "the first one";
      continue;
    }
    sources_[0].state = BleedState::Closed, tubes_[kDuct].clips_at_start = 2;
    show();
    const std::vector<TaskEvent> events = run_->result().events;
    EXPECT_TRUE(std::ranges::any_of(events, [](const TaskEvent& event) {
      return event.text == "the bleeding of the duct is stopped by a clip, after 0.2 s and 5.0 ml";
    }));
    move_organ(0.03f);
    EXPECT_TRUE(run_->result().finished);
    EXPECT_FALSE(run_->result().ended_by_critical);
    EXPECT_LE(run_->result().score, 30.0);
    EXPECT_TRUE(cap_text(run_->result()).ends_with("The score is at most 30."));
  }
}

class BleedingRules : public OperationRules {
 protected:
  // The duct is an injured vessel that has lost 5 ml before the task.
  BleedingRules() {
    stage_.injuries = {{}, StageInjury{{0.02f, 0.f, 0.f}, TubeSide::Start}, {}};
    lost_.resize(3), lost_[kDuct].blood = 5.0 * kMillilitre;
    sources_.push_back({kDuct, 0, BleedKind::Vessel, BleedState::Flows, 6e-7, 0.0, 0.0});
    blood_on_organs(4.0);
    TaskStep stop = of(StepKind::StopBleeding), suck = of(StepKind::Suck);
    stop.organ = "duct", suck.left_ml = 1.0;
    begin({stop, suck});
  }
  void clip(float along) {
    PlacedClip clip;
    clip.clip.organ = kDuct, clip.clip.count = 4, clip.along = along, clip.closed = 1.f;
    clips_.push_back(clip);
  }
};

TEST_F(BleedingRules, ABleedingIsStoppedByAClipNotByPressure) {
  EXPECT_EQ(last_event(), "the duct bleeds");
  EXPECT_EQ(run_->feed().errors, 0u) << "it bled before the task";
  EXPECT_EQ(run_->feed().hint, "1 of 2: other (grasper); hold it where it bleeds, or clip it at once");
  sources_[0].state = BleedState::Pressed;
  show(50);
  EXPECT_NEAR(run_->feed().progress, 0.15, 1e-9);
  EXPECT_EQ(run_->feed().hint, "1 of 2: other; it is pressed: clip it on the side of its supply");
  sources_[0].state = BleedState::Flows;
  lost_[kDuct].blood = 8.0 * kMillilitre;
  show();
  clip(0.01f), sources_[0].state = BleedState::Closed;
  show(3);
  EXPECT_EQ(run_->feed().step, 0u) << "it must hold";
  show(8);
  EXPECT_EQ(run_->feed().step, 1u);
  EXPECT_EQ(run_->feed().hint, "2 of 2: other, 4.0 ml left");
  blood_on_organs(2.0);
  show();
  EXPECT_NEAR(run_->feed().progress, 0.5 + 0.5 * 2.0 / 3.0, 1e-9);
  blood_on_organs(1.0);
  show();
  EXPECT_TRUE(run_->result().finished);
  EXPECT_EQ(run_->result().score, 100.0);
  EXPECT_EQ(metric("task_clips"), 1.0);
}

TEST_F(BleedingRules, ACleanFieldCountsWhenNothingBleeds) {
  blood_on_organs(0.0);
  show();
  EXPECT_EQ(run_->feed().progress, 0.0) << "more will come";
  sources_[0].state = BleedState::Coagulated;
  show(8);
  EXPECT_TRUE(run_->result().finished);
}

TEST_F(BleedingRules, AClipBehindTheHoleIsAnError) {
  clip(0.03f);
  show();
  EXPECT_EQ(last_event(), "a clip on the duct does not stop its bleeding: it lies beyond it");
  EXPECT_EQ(run_->feed().warning, last_event());
  EXPECT_EQ(metric("task_bad_clips"), 1.0);
  EXPECT_EQ(run_->feed().errors, 1u);
  clip(0.01f), sources_[0].state = BleedState::Closed;
  show(2);
  EXPECT_EQ(metric("task_bad_clips"), 1.0);
  EXPECT_EQ(metric("task_clips"), 2.0);
  EXPECT_EQ(run_->feed().warning, "");
}

TEST_F(BleedingRules, ABleedingBeforeItBeginsHasNoState) {
  sources_.clear();
  stage_.injuries[kDuct]->at.x = 0.01f;
  begin(task_.steps);
  blood_on_organs(0.0);
  show(20);
  EXPECT_EQ(run_->feed().progress, 0.0);
  EXPECT_EQ(run_->feed().hint, "1 of 2: other");
  sources_.push_back({kBystander, 0, BleedKind::Vessel, BleedState::Closed, 6e-7, 0.0, 0.0});
  sources_.push_back({kDuct, 0, BleedKind::Surface, BleedState::Stopped, 6e-7, 0.0, 0.0});
  show(20);
  EXPECT_EQ(run_->feed().progress, 0.0) << "they are others";
}

TEST_F(BleedingRules, BloodLostBeforeTheTaskDoesNotCount) {
  task_.limits = {{"duct", 0.0, false, 10.0, 0.0}};
  begin(task_.steps);
  lost_[kDuct].blood = 14.5 * kMillilitre;
  show();
  EXPECT_NEAR(metric("task_blood"), 9.5, 1e-9);
  EXPECT_FALSE(run_->feed().finished);
  lost_[kDuct].blood = 15.5 * kMillilitre;
  show();
  EXPECT_EQ(last_event(), "critical: the duct has lost more than 10 ml of blood");
  EXPECT_TRUE(run_->feed().finished);
}

class ControlBleedingScene : public test::SceneText {
 protected:
  ControlBleedingScene() : SceneText(test::shipped_scene("data/scenes/tasks/control_bleeding.toml")) {}
};

TEST_F(ControlBleedingScene, FaultsAreOneSentence) {
  const std::string organ = "organ = \"cystic artery\"\nhold_s";
  expect_sentence(with(organ, "hold_s"), "task.step.organ: is missing; name the vessel that bleeds");
  expect_sentence(with(organ, "organ = \"cystic duct\"\nhold_s"), "task.step.organ: cystic duct does not bleed");
  expect_sentence(with(organ, "organ = \"vein\"\nhold_s"), "vein");
  expect_sentence(with("opened_mm = [-27, 82, 121.8]", ""), "pooled_ml: is of no use without opened_mm");
  expect_sentence(with("opened_mm = [-27, 82, 121.8]\nrate_ml_min = 40\npooled_ml = 4", ""), "does not bleed");
  expect_sentence(with("kind = \"suction\"", "kind = \"probe\""), "needs an instrument of the kind suction");
  expect_sentence(with("kind = \"clip-applier\"", "kind = \"grasper\""),
                  "needs an instrument of the kind clip-applier");
  expect_sentence(with("title = \"suck the blood away\"", "organ = \"liver\""), "organ: must be absent");
  expect_sentence(with("left_ml = ", "left_ml = -"), "left_ml");
}

// A level changes the injured vessel.
TEST_F(ControlBleedingScene, LevelsChangeTheVessel) {
  const Scene scene = load_scene(repository_file("data/scenes/tasks/control_bleeding.toml"));
  const auto vessel = [](const Scene& of) {
    return *std::ranges::find(of.organs, "cystic artery", &OrganScene::name)->vessel;
  };
  const Scene hardest = with_level(scene, 3);
  EXPECT_GT(vessel(hardest).flow.rate_ml_min, vessel(scene).flow.rate_ml_min);
  EXPECT_GT(vessel(hardest).pooled_ml, vessel(scene).pooled_ml);
  EXPECT_NE(*vessel(hardest).opened, *vessel(scene).opened);
}

TEST_F(OperationRules, DividingAfterTheViewIsSafe) {
  task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
  TaskStep view = dissect({{"bed", {}, 1.0}});
  view.before_division = true;
  begin({view, of(StepKind::Divide)});
  break_fibres({0, 1, 2, 3, 4, 5, 6, 7});
  divide_duct();
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_TRUE(run_->result().finished);
}

// The duct hangs on three fibres of its own.
TEST_F(OperationRules, ADuctThatComesOffBeforeItsDivisionEndsTheOperation) {
  task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}}, task_.rules.clips_staying = 0.0;
  stage_.tissue.emplace_back("end of the duct");
  stage_.fibres.resize(13, {2, {}, kDuct, kOrgan});
  intact_.resize(13, 1), ends_.resize(13);
  const auto steps = [] { return std::vector{of(StepKind::Divide), dissect({{"bed", {}, 1.0}})}; };
  begin(steps());
  break_fibres({10, 12, 0, 1, 2, 3, 4, 5, 6});
  EXPECT_FALSE(run_->feed().finished);
  break_fibres({11}, FibreBreak::Torn);
  EXPECT_EQ(last_event(), "critical: the duct has come off the organ");
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_LE(run_->result().score, 30.0);

  intact_.assign(intact_.size(), 1);
  begin(steps());
  divide_duct();
  break_fibres({10, 11, 12}, FibreBreak::Torn);
  EXPECT_FALSE(run_->feed().finished) << "the duct was divided before";
}

// A burn of 2 mm is allowed, one of 4 mm ends the operation; walls that no hot metal made do not count.
TEST_F(OperationRules, ADeepBurnEndsTheOperation) {
  task_.limits = {{"organ", 0.003, false}};
  begin({retract()});
  organs_[kOrgan].new_rest = {};
  heat(kOrgan, {{0.f, 0.02f, -0.002f}});
  EXPECT_NEAR(metric("task_burn_depth"), 100.0 * 2.0 / 3.0, 1e-3);
  EXPECT_FALSE(run_->feed().finished);
  const std::vector<glm::vec3> cut = {{0.f, 0.02f, -0.01f}};
  organs_[kOrgan].new_rest = cut;
  show();
  organs_[kOrgan].new_rest = {};
  EXPECT_NEAR(metric("task_burn_depth"), 100.0 * 2.0 / 3.0, 1e-3);
  heat(kOrgan, {{0.f, 0.02f, -0.004f}});
  EXPECT_EQ(last_event(), "critical: the organ is burnt deeper than 3.0 mm");
  EXPECT_TRUE(run_->feed().finished);
}

TEST_F(OperationRules, HotMetalOnAProtectedOrganEndsTheOperation) {
  task_.limits = {{"bystander", 0.0, true}};
  begin({retract()});
  heat(kOrgan, {});
  EXPECT_FALSE(run_->feed().finished);
  heat(kBystander, {});
  EXPECT_EQ(last_event(), "critical: diathermy on the bystander");
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_LE(run_->result().score, 30.0);
}

// Unless it seals a vessel that bleeds.
TEST_F(OperationRules, HotMetalInADuctIsAnError) {
  begin({retract()});
  heat(kDuct, {});
  EXPECT_EQ(last_event(), "hot metal burns the wall of the duct");
  EXPECT_EQ(run_->feed().errors, 1u);
  lost_.resize(3);
  sources_.push_back({kDuct, 0, BleedKind::Surface, BleedState::Flows, 1e-7, 0.0, 0.0});
  show(50);
  heat(kDuct, {});
  EXPECT_EQ(run_->feed().errors, 1u);
}

// Each burn counts once in half a second, in the grade of an operation that clears a window.
TEST_F(OperationRules, BurnsOfDuctsAreGradedWhereAWindowIsCleared) {
  TaskStep clear = of(StepKind::Clear);
  clear.sides = {{"duct", {0.01f, 0.f, 0.f}, {0.03f, 0.f, 0.f}, 0.003},
                 {"organ", {0.01f, 0.02f, 0.f}, {0.03f, 0.02f, 0.f}, 0.001}};
  clear.gone = {{"bystander"}};
  begin({clear, retract()});
  show();
  EXPECT_EQ(metric("task_duct_burns"), 0.0);
  heat(kDuct, {});
  EXPECT_EQ(metric("task_duct_burns"), 1.0);
  show(50);
  heat(kDuct, {});
  EXPECT_EQ(metric("task_duct_burns"), 2.0);
}

TEST_F(OperationRules, CutsInOtherTissueAreErrors) {
  begin({retract()});
  organs_[kOrgan].faces_removed = 3;
  show(3);
  EXPECT_EQ(last_event(), "the organ is cut or torn");
  EXPECT_EQ(run_->feed().errors, 1u) << "a cut of several frames counts once";
  EXPECT_EQ(metric("task_other_cuts"), 1.0);
}

// Up to the limit of an organ nothing happens; what other organs lose counts for the metric only.
TEST_F(OperationRules, TooMuchLostBloodEndsTheOperation) {
  task_.limits = {{"organ", 0.0, false, 20.0, 0.0}};
  begin({retract()});
  EXPECT_EQ(metric("task_blood"), 0.0) << "a recording without bleeding";
  lost_ = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  show();
  sources_.push_back({kOrgan, 0, BleedKind::Surface, BleedState::Flows, 1e-7, 60.0, 0.0});
  lost_[kOrgan].blood = 20.0 * kMillilitre, lost_[kDuct].blood = 5.0 * kMillilitre;
  show();
  EXPECT_EQ(last_event(), "the organ bleeds");
  EXPECT_NEAR(metric("task_blood"), 25.0, 1e-9);
  EXPECT_EQ(run_->feed().errors, 0u);
  EXPECT_FALSE(run_->feed().finished);
  lost_[kOrgan].blood = 20.1 * kMillilitre;
  show();
  EXPECT_EQ(last_event(), "critical: the organ has lost more than 20 ml of blood");
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_LE(run_->result().score, 30.0);
}

TEST_F(OperationRules, SpiltBileIsAnErrorAndMuchOfItASecondOne) {
  task_.limits = {{"organ", 0.0, false, 0.0, 10.0}};
  begin({retract()});
  lost_.resize(3);
  sources_.push_back({kOrgan, 0, BleedKind::Perforation, BleedState::Flows, 1e-7, 0.0, 0.0});
  lost_[kOrgan].bile = 9.0 * kMillilitre;
  show();
  EXPECT_EQ(last_event(), "the organ is perforated and spills bile");
  EXPECT_EQ(run_->feed().errors, 1u);
  EXPECT_NEAR(metric("task_bile"), 9.0, 1e-9);
  show(3);
  EXPECT_EQ(run_->feed().errors, 1u) << "it counts once";
  lost_[kOrgan].bile = 11.0 * kMillilitre;
  show();
  EXPECT_EQ(last_event(), "the organ has spilt more than 10 ml of bile");
  EXPECT_EQ(run_->feed().errors, 2u);
  EXPECT_FALSE(run_->feed().finished) << "an opened gallbladder is taken out all the same";
}

// Tests scenes with the task "operation": faults are one sentence.

class OperationScene : public test::SceneText {
 protected:
  OperationScene() : SceneText(test::shipped_scene("data/scenes/procedures/cholecystectomy.toml")) {}
};

// The first step retracts the fundus, with the first grasper; only later ones name theirs.
TEST_F(OperationScene, TheFirstStepSaysWhichInstrumentIsTaken) {
  Scene scene = load_scene(repository_file("data/scenes/procedures/cholecystectomy.toml"));
  EXPECT_EQ(scene.instruments[instrument_of_task(scene)].name, "grasper");
  scene.task->steps.erase(scene.task->steps.begin());
  EXPECT_EQ(scene.instruments[instrument_of_task(scene)].name, "second grasper");
  scene.task->steps.erase(scene.task->steps.begin());
  EXPECT_EQ(scene.instruments[instrument_of_task(scene)].name, "hook");
}

TEST_F(OperationScene, FaultsAreOneSentence) {
  expect_sentence(with("name = \"bed\"\nnear_mm", "name = \"bad\"\nnear_mm"), "no layer or band 'bad'; it has bed, ");
  expect_sentence(with("title = \"retract the fundus\"\norgan = \"gallbladder\"", "title = \"retract\""),
                  "is missing; name the organ that is moved");
  expect_sentence(with("title = \"retract the fundus\"\norgan = \"gallbladder\"", "organ = \"spleen\""), "'spleen'");
  expect_sentence(with("kind = \"hook\"", "kind = \"probe\""), "needs an instrument of the kind hook");
  expect_sentence(
      test::replaced(with("kind = \"grasper\"", "kind = \"probe\""), "kind = \"grasper\"", "kind = \"probe\""),
      "the scene needs a grasper");
  expect_sentence(with("title = \"clip and divide duct and artery\"", "organ = \"liver\""), "must be absent");
  expect_sentence(with("kind = \"retract\"", "kind = \"remove\""), "at most one step of the kind remove");
  expect_sentence(with("deepest_burn_mm = 3", "deepest_burn_mm = -3"), "deepest_burn_mm");
  expect_sentence(with("part = 0.333", "part = 0"), "part");
  expect_sentence(with("no_diathermy = true", "most_blood_ml = 10"), "stomach cannot bleed");
  expect_sentence(with("no_diathermy = true", "most_bile_ml = 10"), "stomach holds no bile");
  expect_sentence(with("deepest_burn_mm = 3", "most_blood_ml = -3"), "most_blood_ml");
  expect_sentence(
      with("[[task.step.pull]]\ninstrument = \"second grasper\"", "[[task.step.pull]]\ninstrument = \"hook\""),
      "must name a grasper");
  expect_sentence(with("kind = \"operation\"", "kind = \"clip-and-cut\""), "only an operation has");
}

TEST_F(OperationScene, APictureOfAStepIsAFileOfTheScene) {
  const auto pictured = [&](const std::string& file) { return with("pictures/retract_fundus.png", file); };
  const Scene own = load(pictured("own.png"));
  EXPECT_EQ(own.task->steps[0].picture, own.file.parent_path() / "own.png");
  expect_sentence(pictured("/etc/passwd"), "the picture of the step retract the fundus is /etc/passwd, outside");
}

}  // namespace

}  // namespace trocar
