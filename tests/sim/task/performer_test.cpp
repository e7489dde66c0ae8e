// Tests that scripted trainees perform every task, and that the score separates the expert from the clumsy one, with
// the seeds 1, 2, 3.
#include <fmt/format.h>

#include "mesh/tube_shape.hpp"
#include "sim/task/performer.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/test.hpp"

// Provides a fixture for tests of single movements of scripted trainees, with frames made by hand: no tissue is
// simulated, so that every force on an instrument, every strand and every clip is known.
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
    stage_.organs = {"organ", "duct"}, stage_.surfaces = {organ_.view(), duct_.view()};
    stage_.lines = {{}, centre_line(shape_)}, stage_.tissue = {"band"};
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
      tools_[k].pose = {pose.pivot, pose.tip, 0.0025}, tools_[k].grip = pose.grip;
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

namespace trocar {
namespace {

class Performers : public ::testing::TestWithParam<std::string> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(Performers, TheScoreSeparatesExpertAndClumsy) {
  Scene scene = test::graded_scene(GetParam(), folder_);
  scene.task->time_limit = 45.0;  // s   the clumsy trainee may run out of time
  double worst_expert = 100.0, best_clumsy = 0.0;
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    const TaskResult expert = test::perform(scene, style_of(Skill::Expert), seed),
                     clumsy = test::perform(scene, style_of(Skill::Clumsy), seed);
    std::printf("%-18s seed %u   expert %3.0f %-12s   clumsy %3.0f %s\n", GetParam().c_str(), seed, expert.score,
                expert.finished ? "finished" : "out of time", clumsy.score,
                clumsy.finished ? "finished" : "out of time");
    EXPECT_TRUE(expert.finished) << "seed " << seed;
    worst_expert = std::min(worst_expert, expert.score);
    best_clumsy = std::max(best_clumsy, clumsy.score);
  }
  EXPECT_GE(worst_expert, best_clumsy + 25.0);
}

// Scores that differ by less are alike: an easy task is none for the average trainee either.
constexpr double kAlike = 3.0;

// The average trainee scores between the other two.
TEST_P(Performers, TheAverageTraineeIsBetween) {
  Scene scene = test::graded_scene(GetParam(), folder_);
  const std::uint32_t seed = 1;
  const TaskResult expert = test::perform(scene, style_of(Skill::Expert), seed),
                   average = test::perform(scene, style_of(Skill::Average), seed);
  scene.task->time_limit = 45.0;  // s   of the clumsy trainee
  const TaskResult clumsy = test::perform(scene, style_of(Skill::Clumsy), seed);
  std::printf("%-18s expert %5.1f   average %5.1f %s   clumsy %5.1f\n", GetParam().c_str(), expert.score, average.score,
              average.finished ? "finished" : "out of time", clumsy.score);
  EXPECT_TRUE(average.finished);
  EXPECT_LE(average.score, expert.score + kAlike);
  EXPECT_GE(average.score, clumsy.score);
}

// An expert at half speed with a tremor finishes the task without other faults. A third of the tremor is enough for the
// scope, which moves the whole picture.
HandStyle slow_and_jerky(const std::string& task) {
  HandStyle style = style_of(Skill::Expert);
  style.speed *= 0.5, style.slide *= 0.5, style.pause *= 2.0;
  style.tremor += task == "navigate_camera" ? 0.0002 : 0.0006;
  return style;
}

TEST_P(Performers, ASlowAndJerkySuccessIsNoHundred) {
  const Scene scene = test::graded_scene(GetParam(), folder_);
  const TaskResult expert = test::perform(scene, style_of(Skill::Expert), 1),
                   jerky = test::perform(scene, slow_and_jerky(GetParam()), 1);
  std::printf("%-18s expert %5.1f   slow and jerky %5.1f\n", GetParam().c_str(), expert.score, jerky.score);
  EXPECT_TRUE(jerky.finished);
  EXPECT_GE(expert.score, 95.0);
  EXPECT_LE(jerky.score, 92.0);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Performers, ::testing::ValuesIn(test::task_scenes()),
                         [](const auto& info) { return info.param; });

TEST(MinimumJerk, StartsAndEndsAtRestAndIsTheQuintic) {
  EXPECT_EQ(minimum_jerk(0.0), 0.0);
  EXPECT_EQ(minimum_jerk(1.0), 1.0);
  EXPECT_DOUBLE_EQ(minimum_jerk(0.5), 0.5);
  const double h = 1e-3;
  for (const double end : {0.0, 1.0}) {
    const double inward = end == 0.0 ? h : 1.0 - h;
    EXPECT_LT(std::abs(minimum_jerk(inward) - end), 2e-8) << "speed and acceleration are 0 at the ends";
  }
  // Peak speed is 1.875 times the mean speed: Flash and Hogan 1985.
  EXPECT_NEAR((minimum_jerk(0.5 + h) - minimum_jerk(0.5 - h)) / (2.0 * h), 1.875, 1e-4);
}

TEST(Performer, TheSameSeedGivesTheSameAttempt) {
  const TemporaryFolder folder;
  Scene scene = test::graded_scene("navigate_camera", folder);
  scene.task->time_good = 5.0, scene.task->time_limit = 6.0;
  const TaskResult first = test::perform(scene, style_of(Skill::Clumsy), 7),
                   again = test::perform(scene, style_of(Skill::Clumsy), 7);
  ASSERT_EQ(first.parts.size(), again.parts.size());
  for (std::size_t k = 0; k < first.parts.size(); ++k)
    if (std::isfinite(first.parts[k].value)) {
      EXPECT_EQ(first.parts[k].value, again.parts[k].value);
    }
  EXPECT_NE(test::perform(scene, style_of(Skill::Clumsy), 8).score, first.score);
}

// An oblique view leaves the line from the port through the target. Turned the other way, an organ hides a target from
// these trainees, who do not turn the light post.
TEST(Performer, LooksThroughA30DegreeScope) {
  const TemporaryFolder folder;
  Scene scene = test::graded_scene("navigate_camera", folder);
  for (const float spin : {120.f, 180.f}) {
    scene.scope.angle_deg = 30.f, scene.scope.spin_deg = spin;
    const TaskResult result = test::perform(scene, style_of(Skill::Expert), 1);
    EXPECT_TRUE(result.finished) << spin;
    EXPECT_GT(result.score, 90.0) << spin;
  }
}

// Tests that the score tells faults apart: an expert with one fault loses points mainly in the metrics of this fault,
// and more of them with a larger dose. Seed 1.

using Doses = std::array<double, 2>;

struct FaultCase {
  const char* scene;
  Fault fault;
  const char* name;
  std::vector<std::string> own;  // metrics of this fault
  Doses doses = {0.5, 1.0};
};

void PrintTo(const FaultCase& fault, std::ostream* out) { *out << fault.scene << ' ' << fault.name; }

// Events of a fault also count as errors, so task_errors belongs to each fault that makes events.
std::vector<FaultCase> cases() {
  std::vector<FaultCase> list;
  for (const std::string& scene : test::task_scenes()) {
    const char* name = scene.c_str();
    const bool is_camera = scene == "navigate_camera", many = scene == "touch_targets" || scene == "keep_out";
    // Where nothing is touched, the expert trembles least and the limit is lowest.
    const Doses tremor = is_camera                 ? Doses{0.1, 0.2}
                         : scene == "burn_line"    ? Doses{0.15, 0.25}
                         : scene == "follow_curve" ? Doses{0.5, 1.0}
                                                   : Doses{0.25, 0.5};
    list.push_back({name, Fault::Tremor, "tremor", {"task_tremor"}, tremor});
    list.push_back({name, Fault::Slowness, "slowness", {"task_time"}, many ? Doses{0.25, 0.75} : Doses{0.5, 1.0}});
  }
  // Only where the trainee presses and lets go: burnt tissue does not resist, a grasped organ is pulled, and on a line
  // the tip of a heavy hand bounces, which is measured as tremor.
  for (const char* scene : {"touch_targets", "keep_out"})
    list.push_back(
        {scene, Fault::Force, "force", {"task_peak_force", "task_overload_time", "task_errors"}, {1.0, 2.0}});
  // The targets touched too early cost time and way.
  for (const char* scene : {"touch_targets", "keep_out"})
    list.push_back(
        {scene, Fault::WrongOrder, "wrong_order", {"task_wrong", "task_errors", "task_time", "task_detour"}});
  for (const char* scene : {"touch_targets", "keep_out", "navigate_camera"})
    list.push_back({scene, Fault::Detour, "detour", {"task_detour", "task_view_detour"}, {0.75, 1.5}});
  list.push_back({"follow_curve",
                  Fault::Detour,
                  "detour",
                  {"task_deviation", "task_worst_deviation", "task_lost_contact", "task_errors"},
                  {0.25, 0.5}});
  list.push_back(
      {"burn_line", Fault::Detour, "detour", {"task_burnt_beside", "task_overshoot", "task_errors"}, {0.4, 0.6}});
  return list;
}

struct Loss {
  double own = 0.0, other = 0.0;  // sums of lost grades
  std::string words;
};

Loss loss_of(const TaskResult& expert, const TaskResult& faulty, const std::vector<std::string>& own) {
  Loss loss;
  for (std::size_t k = 0; k < expert.parts.size(); ++k) {
    const double lost = mark_of(expert.parts[k]).value_or(1.0) - mark_of(faulty.parts[k]).value_or(1.0);
    const bool is_own = std::ranges::find(own, faulty.parts[k].id) != own.end();
    (is_own ? loss.own : loss.other) += std::max(lost, 0.0);
    if (lost > 0.02) loss.words += fmt::format(" {}{} {:.2f}", is_own ? "" : "(other) ", faulty.parts[k].id, lost);
  }
  return loss;
}

// Returns the expert's result, performed once for each scene.
const TaskResult& expert_on(const Scene& scene, const std::string& name) {
  static std::map<std::string, TaskResult> results;
  const auto found = results.find(name);
  if (found != results.end()) return found->second;
  return results[name] = test::perform(scene, style_of(Skill::Expert), 1);
}

class OneFault : public ::testing::TestWithParam<FaultCase> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(OneFault, CostsMainlyItsOwnMetricAndMoreWithALargerDose) {
  const FaultCase& fault = GetParam();
  Scene scene = test::graded_scene(fault.scene, folder_);
  const TaskResult& expert = expert_on(scene, fault.scene);
  double before = 0.0;
  for (const double dose : fault.doses) {
    const TaskResult faulty = test::perform(scene, style_with(fault.fault, dose), 1);
    const Loss loss = loss_of(expert, faulty, fault.own);
    std::printf("%-18s %-12s dose %.1f  score %3.0f %-12s lost: own %.2f, other %.2f  %s\n", fault.scene, fault.name,
                dose, faulty.score, faulty.finished ? "finished" : "out of time", loss.own, loss.other,
                loss.words.c_str());
    EXPECT_GT(loss.own, before + 0.05) << "dose " << dose;
    EXPECT_GT(loss.own, loss.other) << "dose " << dose;
    before = loss.own;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, OneFault, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.scene) + "_" + info.param.name; });

// Tests single movements of scripted trainees with a hook and with graspers.

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

// A strand that springs away takes its target along; the hand follows at 0.3 m/s.
TEST_F(HookMovements, AHandDoesNotFollowTissueThatSpringsAway) {
  add_strand(glm::vec3(0.f));
  begin();
  reach_the_strand();
  ends_[0].a.y += 0.06f, ends_[0].b.y += 0.06f;
  double fastest = 0.0;
  for (int k = 0; k < 20; ++k) {
    const glm::dvec3 before = pose_of(0).tip;
    show();
    fastest = std::max(fastest, glm::distance(pose_of(0).tip, before) / test::kTick);
  }
  EXPECT_GT(fastest, 0.2) << "it did not follow at all";
  EXPECT_LT(fastest, 0.3001);
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

// Tests single movements of scripted trainees who clip and divide a duct.

using test::steady;

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

// The target lies 20 mm along the duct, at x = 0; two clips close it on the side of its end.
TEST_F(ClipMovements, TheCutKeepsAwayFromAClip) {
  const auto cut_with = [&](double leaving) {
    clips_.assign(3, {});
    for (PlacedClip& clip : clips_) clip.clip.organ = 1, clip.clip.count = 4, clip.closed = 1.f;
    clips_[0].along = 0.0285f, clips_[1].along = 0.024f, clips_[2].along = static_cast<float>(leaving);
    for (int k = 0; k < 600 && pose_of(1).grip > 0.1; ++k) show();
    const double cut = pose_of(1).tip.x;
    for (int k = 0; k < 600 && pose_of(1).grip < 0.9; ++k) show();
    return cut;
  };
  begin();
  EXPECT_NEAR(cut_with(0.0155), 0.0, 3e-4);
  cut_with(0.0182);
  EXPECT_NEAR(cut_with(0.0182), 0.0011, 3e-4) << "in the middle between two clips";
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
