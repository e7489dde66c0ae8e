// Tests single movements of scripted trainees with a hook and with graspers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/hand_movements.hpp"

namespace trocar {
namespace {

using test::HandMovements;

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

// Tissue slips out of the jaws while the hook works. A step without movements of its own needs the tension as well.
TEST_F(HookAndGraspers, WhatSlipsOutIsGraspedAgain) {
  add_grasper("left", {-0.03f, -0.04f, 0.f}, 0.012f);
  add_dissection();
  grasp();
  moves(1, {}, 4.0);
  ASSERT_EQ(pose_of(1).grip, 0.0);
  marks_.front() = {0.f, -0.04f, 0.f};
  double nearest = INFINITY;
  for (int k = 0; k < 60 * 20; ++k)
    show(), nearest = std::min(nearest, glm::distance(pose_of(1).tip, glm::dvec3(marks_.front())));
  EXPECT_LT(nearest, 0.005);
  EXPECT_EQ(pose_of(1).grip, 0.0);
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

}  // namespace
}  // namespace trocar
