// Tests every kind of task on frames made by hand, against values computed by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "geometry/error.hpp"
#include "geometry/planar/polygon.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/attempt.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/task_run.hpp"
#include "sim/task/watches.hpp"
#include "tests/sim/recording/every_kind.hpp"
#include "tests/sim/task/task_support.hpp"
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

// Tests the committed task scenes at every level: every target lies on its organ, is visible in the scope's initial
// view without occlusion, and can be touched by the instrument; zones leave the targets free.

namespace {

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

}  // namespace

// Tests the texts that explain a grade and a critical error, and that doing nothing in a task is worth nothing.

namespace {

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
  attempt.task = TaskResult{"clip-and-cut", "Clip", false, 30.0, {}, {}, "duct cut without a clip on both sides"};
  EXPECT_EQ(cap_text(*attempt.task),
            "Critical error: duct cut without a clip on both sides. It ended the task, and the score is at most 30.");
  const auto json = nlohmann::json::parse(to_json(attempt));
  EXPECT_EQ(json["task"]["critical"]["error"], "duct cut without a clip on both sides");
  EXPECT_EQ(json["task"]["critical"]["cap"], 30.0);
  EXPECT_TRUE(cap_text({}).empty());
}

}  // namespace

}  // namespace trocar
