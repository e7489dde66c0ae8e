// Tests single movements of scripted trainees in an operation, with frames made by hand: no tissue is simulated, so
// that every force on an instrument, every strand and every clip is known.
#include <gtest/gtest.h>

#include <algorithm>

#include "mesh/tube_shape.hpp"
#include "sim/task/performer.hpp"

namespace trocar {
namespace {

constexpr double kTick = 1.0 / 60.0;  // s

// A still hand, so that positions can be compared.
HandStyle steady() {
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

class HookMovements : public HandMovements {
 protected:
  HookMovements() {
    add("hook", InstrumentKind::Hook);
    scene_.task->steps[0].kind = StepKind::Dissect, scene_.task->steps[0].tissue = {{"band"}};
  }
};

TEST_F(HookMovements, AHookThatPressesOnAnOrganMovesOutBeforeTheNextStrand) {
  add_strand({0.f, -0.03f, 0.f}), add_strand({0.f, -0.026f, 0.f});
  begin();
  reach_the_strand();
  double furthest = 0.0;
  for (int k = 0; k < 180; ++k) {
    show(away_from_strand() < 0.010 ? 0.35f : 0.f);
    furthest = std::max(furthest, away_from_strand());
  }
  EXPECT_GT(furthest, 0.020) << "it would be stopped in every frame, and stay there";
}

TEST_F(HookMovements, StrandsNearbyAreDividedWithoutMovingOut) {
  add_strand({0.f, -0.03f, 0.f}), add_strand({0.f, -0.026f, 0.f});
  begin();
  reach_the_strand();
  intact_[0] = 0;
  double furthest = 0.0;
  for (int k = 0; k < 90; ++k) {
    show();
    furthest = std::max(furthest, glm::distance(pose_of(0).tip, middle_of(ends_[1])));
  }
  EXPECT_LT(furthest, 0.012);
}

// A long strand that cannot be divided does not keep the hook from others, of which none is exposed.
TEST_F(HookMovements, AStrandThatDoesNotBreakIsLeftForOthers) {
  add_strand({0.f, -0.03f, 0.f}), add_strand({0.02f, -0.03f, 0.f});
  ends_[0].b = ends_[0].a + glm::vec3(0.f, 0.007f, 0.f), ends_[1].b = ends_[1].a + glm::vec3(0.f, 0.0005f, 0.f);
  begin();
  double nearest = INFINITY;
  for (int k = 0; k < 60 * 60; ++k)
    show(), nearest = std::min(nearest, glm::distance(pose_of(0).tip, middle_of(ends_[1])));
  EXPECT_LT(nearest, 0.0045);
}

// Of two strands, the nearer lies among others that are joined; beside the other one, a strand is divided already.
TEST_F(HookMovements, TheFrontOfTheDissectionComesFirst) {
  add_strand({0.f, -0.03f, 0.f}), add_strand({0.f, -0.034f, 0.f});
  add_strand({0.02f, -0.03f, 0.f}), add_strand({0.02f, -0.034f, 0.f});
  intact_[3] = 0;
  begin();
  for (int k = 0; k < 600 && pose_of(0).energy != Diathermy::Cut; ++k) show();
  ASSERT_EQ(pose_of(0).energy, Diathermy::Cut);
  EXPECT_LT(glm::distance(pose_of(0).tip, middle_of(ends_[2])), 0.006);
}

// The wire would take the duct along on the straight path between these strands.
TEST_F(HookMovements, AHookMovesOutBeforeItGoesAcrossADuct) {
  add_strand({0.f, -0.0025f, -0.0035f}), add_strand({0.f, 0.0025f, -0.0035f});
  for (FibreEnds& ends : ends_) ends.b = ends.a + glm::vec3(0.f, 0.f, 0.007f);
  begin();
  for (int k = 0; k < 600 && pose_of(0).energy != Diathermy::Cut; ++k) show();
  ASSERT_EQ(pose_of(0).energy, Diathermy::Cut);
  intact_[pose_of(0).tip.y < 0.0 ? 0 : 1] = 0;
  double furthest = 0.0;
  for (int k = 0; k < 120; ++k) show(), furthest = std::max(furthest, pose_of(0).tip.z);
  EXPECT_GT(furthest, 0.020);
}

// A hook, and graspers that retract the organ in the first steps, each with a strand near it.
class HookAndGraspers : public HookMovements {
 protected:
  HookAndGraspers() { scene_.task->steps.clear(); }

  void add_grasper(const std::string& name, const glm::vec3& at, float strand_length) {
    add(name, InstrumentKind::Grasper);
    TaskStep hold;
    hold.kind = StepKind::Retract, hold.organ = "organ", hold.location = at, hold.instrument = name;
    hold.lift = 0.001, hold.direction = {0.f, 0.f, 1.f};
    scene_.task->steps.push_back(hold);
    add_strand(at + glm::vec3(0.f, 0.005f, 0.f));
    ends_.back().b = ends_.back().a + glm::vec3(0.f, 0.f, strand_length);
  }
  void add_dissection() {
    TaskStep dissect;
    dissect.kind = StepKind::Dissect, dissect.tissue = {{"band"}};
    scene_.task->steps.push_back(dissect);
  }
  void grasp() {
    begin();
    for (step_ = 0; scene_.task->steps[step_].kind == StepKind::Retract; ++step_)
      for (int k = 0; k < 600 && pose_of(step_ + 1).grip > 0.0; ++k) show();
  }
  // Returns how far an instrument moves in a direction, for some seconds, m.
  double moves(std::size_t tool, const glm::dvec3& direction, double seconds) {
    const glm::dvec3 from = pose_of(tool).tip;
    double furthest = 0.0;
    for (const double end = time_ + seconds; time_ < end;)
      show(), furthest = std::max(furthest, glm::dot(pose_of(tool).tip - from, direction));
    return furthest;
  }
};

TEST_F(HookAndGraspers, ALongStrandFarAwayDoesNotStopThePull) {
  add_grasper("left", {-0.03f, -0.04f, 0.f}, 0.002f);
  add_strand({0.03f, -0.04f, 0.f});
  ends_[1].b = ends_[1].a + glm::vec3(0.f, 0.f, 0.012f);
  add_dissection();
  grasp();
  moves(1, {}, 4.0);
  EXPECT_GT(moves(1, {0.0, 0.0, 1.0}, 60.0), 0.003);
}

// What a grasper has pulled for one step does not count in the next, for which it moves what it holds.
TEST_F(HookAndGraspers, AGrasperThatHasMovedForAStepPullsAgain) {
  add_grasper("left", {-0.03f, -0.04f, 0.f}, 0.002f);
  add_strand({-0.03f, -0.036f, 0.f});
  ends_[1].b = ends_[1].a + glm::vec3(0.f, 0.f, 0.002f);
  add_dissection(), add_dissection();
  scene_.task->steps[2].pulls = {{"left", {0.f, 0.f, -0.004f}}};
  grasp();
  intact_[1] = 0;
  const double held = pose_of(1).tip.z;
  for (int k = 0; k < 1200 && pose_of(1).tip.z < held + 0.0055; ++k) show();
  ASSERT_GE(pose_of(1).tip.z, held + 0.0055);
  intact_ = {0, 1}, step_ = 2;
  EXPECT_GT(moves(1, {0.0, 0.0, -1.0}, 2.0), 0.006) << "it was 4 mm for the step, then nothing";
}

// Each of two graspers moves what it holds 8 mm to one side, when the hook has divided nothing near it for a while.
TEST_F(HookAndGraspers, EveryGrasperSwingsFromWhereItIs) {
  constexpr float kLong = 0.012f;  // m   nothing is pulled further
  add_grasper("left", {-0.03f, -0.04f, 0.f}, kLong), add_grasper("right", {0.03f, -0.04f, 0.f}, kLong);
  add_dissection();
  grasp();
  moves(1, {}, 4.0);
  const glm::dvec3 left = pose_of(1).tip, right = pose_of(2).tip;
  intact_[1] = 0;
  const auto swung = [&](std::size_t tool, const glm::dvec3& from) {
    double furthest = 0.0;
    for (int k = 0; k < 60 * 60; ++k) {
      show();
      furthest = std::max(furthest, glm::distance(pose_of(tool).tip, from));
    }
    return furthest;
  };
  EXPECT_NEAR(swung(1, left), 0.008, 0.001);
  intact_ = {0, 1};
  EXPECT_NEAR(swung(2, right), 0.008, 0.001);
}

// The planned point of this strand is 3.3 mm from the line of the duct; hot metal keeps further away.
TEST_F(HookMovements, HotMetalKeepsAwayFromDucts) {
  stage_.fibres.push_back({0, {}, 1, 0});
  ends_.push_back({{0.f, 0.f, 0.f}, {0.f, 0.006f, 0.f}});
  intact_.push_back(1);
  begin();
  double nearest = INFINITY;
  for (int k = 0; k < 600; ++k) {
    show();
    const DevicePose pose = pose_of(0);
    if (pose.energy == Diathermy::Cut) nearest = std::min(nearest, std::abs(pose.tip.y));
  }
  EXPECT_GT(nearest, 0.0042);
  EXPECT_LT(nearest, 0.006) << "it did not come near";
}

TEST_F(HookMovements, ACaughtHookGoesBackOnThePathOnWhichItCame) {
  add_strand({0.f, -0.03f, 0.f}), add_strand({0.03f, -0.06f, 0.f});
  begin();
  std::vector<glm::dvec3> came;
  const auto follow = [&](float force) { show(force), came.push_back(pose_of(0).tip); };
  for (int k = 0; k < 600 && away_from_strand() > 0.0045; ++k) follow(0.f);
  intact_[0] = 0;
  for (int k = 0; k < 10; ++k) follow(0.f);
  // It is caught as soon as it has moved out by 1 mm.
  const double depth = pose_of(0).tip.z;
  for (int k = 0; k < 120 && pose_of(0).tip.z < depth + 0.001; ++k) follow(0.f);
  ASSERT_GE(pose_of(0).tip.z, depth + 0.001);
  follow(0.45f);
  double deepest = 1.0, furthest = 0.0;
  for (int k = 0; k < 75; ++k) {
    show();
    deepest = std::min(deepest, pose_of(0).tip.z);
    double nearest = INFINITY;
    for (const glm::dvec3& tip : came) nearest = std::min(nearest, glm::distance(tip, pose_of(0).tip));
    furthest = std::max(furthest, nearest);
  }
  EXPECT_LT(furthest, 0.0005);
  EXPECT_GT(deepest, depth - 0.0003) << "it is not pushed in first";
}

// What jaws hold moves with them, and its mark too: a hand that followed the mark would never stop.
TEST_F(HandMovements, AGrasperThatClosesStaysWhereItIs) {
  add("grasper", InstrumentKind::Grasper);
  scene_.task->kind = TaskKind::LiftOrgan, scene_.task->instrument = "grasper";
  scene_.task->locations = {{"organ", {0.f, -0.03f, 0.f}}};
  begin();
  for (int k = 0; k < 600 && pose_of(0).grip > 0.9; ++k) show();
  ASSERT_LE(pose_of(0).grip, 0.9) << "it does not close";
  const glm::dvec3 closing = pose_of(0).tip;
  for (int k = 0; k < 40; ++k) {
    marks_[0] = glm::vec3(pose_of(0).tip + glm::dvec3(0.001, 0.0, 0.0));
    show();
    EXPECT_LT(glm::distance(pose_of(0).tip, closing), 1e-4) << k;
  }
}

class ClipMovements : public HandMovements {
 protected:
  ClipMovements() {
    add("applier", InstrumentKind::ClipApplier), add("scissors", InstrumentKind::Scissors);
    scene_.task->steps[0].kind = StepKind::Divide;
    scene_.task->locations = {{"duct", {0.f, 0.f, 0.f}, TubeSide::End}};
  }

  // An attempt to close a clip.
  struct Attempt {
    glm::dvec3 tip;         // m  when the jaws opened again
    double aperture = 1.0;  // 1  then
    double out = 0.0;       // m  the largest distance from the duct along the shaft, afterwards
  };
  // Shows frames until some attempts have ended. The applier feels `force` while its jaws are less than half open.
  std::vector<Attempt> attempts(std::size_t count, float force) {
    std::vector<Attempt> ended;
    bool closing = false;
    for (int k = 0; k < 60 * 60 && ended.size() <= count; ++k) {
      const DevicePose before = pose_of(0);
      show(before.grip < 0.5 ? force : 0.f);
      const DevicePose now = pose_of(0);
      if (closing && now.grip > before.grip) ended.push_back({before.tip, before.grip});
      closing = now.grip < before.grip || (closing && now.grip == before.grip);
      if (!ended.empty()) ended.back().out = std::max(ended.back().out, now.tip.z);
    }
    if (ended.size() > count) ended.pop_back();
    return ended;
  }
};

TEST_F(ClipMovements, AHandThatPushesTheDuctAsideOpensMovesOutAndAimsAgain) {
  begin();
  const std::vector<Attempt> ended = attempts(4, 0.15f);
  ASSERT_EQ(ended.size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(ended[k].aperture, 0.47, 0.04) << k;
    EXPECT_GT(ended[k].out, 0.020) << k;
    EXPECT_NEAR(ended[k].tip.x, ended[0].tip.x, 2e-4) << k;
    EXPECT_NEAR(ended[k].tip.z, ended[0].tip.z, 2e-4) << k << ": not deeper, as after a clip that does not close";
  }
  EXPECT_LT(ended[3].aperture, 0.01) << "it gives way three times at most";
}

TEST_F(ClipMovements, ALightForceDoesNotStopTheClosing) {
  begin();
  const std::vector<Attempt> ended = attempts(1, 0.07f);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_LT(ended[0].aperture, 0.01);
}

TEST_F(ClipMovements, ACarelessHandClosesOnADuctThatItPushesAside) {
  HandStyle careless = steady();
  careless.careless = true;
  begin(careless);
  const std::vector<Attempt> ended = attempts(1, 0.5f);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_LT(ended[0].aperture, 0.01);
}

TEST_F(ClipMovements, MoveTowardsTheTargetWhereNoneCloses) {
  begin();
  std::vector<double> closed;
  double before = 1.0;
  for (int k = 0; k < 60 * 60 && closed.size() < 6; ++k) {
    show();
    const DevicePose pose = pose_of(0);
    if (pose.grip < 0.1 && before >= 0.1) closed.push_back(pose.tip.x);
    before = pose.grip;
  }
  ASSERT_EQ(closed.size(), 6u);
  for (std::size_t k = 1; k < closed.size(); ++k) EXPECT_LE(closed[k], closed[k - 1] + 2e-4);
  EXPECT_NEAR(closed[0], 0.0085, 5e-4);
  EXPECT_NEAR(closed[1], closed[0], 5e-4) << "the second attempt only goes further in";
  EXPECT_NEAR(closed[5], 0.0060, 5e-4);
}

}  // namespace
}  // namespace trocar
