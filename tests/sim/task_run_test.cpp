// Tests every kind of task on frames made by hand, against values computed by hand.
#include "sim/task/task_run.hpp"

#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "sim/task/task_goal.hpp"
#include "tests/sim/task_support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar {
namespace {

using test::HandMadeFrames;
using test::part_of;

TaskScene touch_task() {
  TaskScene task;
  task.instrument = "probe";
  task.locations = {{"sheet", {0.01f, 0.f, 0.f}}, {"sheet", {0.05f, 0.f, 0.f}}};
  task.tolerance = 0.004;
  task.hold = 0.2;
  task.time_good = 10.0;
  task.time_limit = 20.0;
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
  task.kind = kind;
  task.locations = {{"sheet", {-0.03f, 0.f, 0.f}}, {"sheet", {0.03f, 0.f, 0.f}}};
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
  task.kind = TaskKind::LiftOrgan;
  task.locations = {{"sheet", {0.f, 0.f, 0.f}}};
  task.lift = 0.015;
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
    frames.scope.port = {x, 0.0, 0.3};
    frames.scope.eye = {x, 0.0, height};
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
  frames.scope.port = {0.01, 0.0, 0.3}, frames.scope.eye = {0.01, 0.0, 0.110};
  frames.hidden.marks = 1;
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
  task.kind = TaskKind::KeepOut;
  task.zones = {{{{0.3, -0.2}, {0.5, -0.2}, {0.5, 0.2}, {0.3, 0.2}}}};
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

}  // namespace
}  // namespace trocar
