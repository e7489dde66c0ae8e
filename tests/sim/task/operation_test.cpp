// Tests the task "operation" with frames made by hand: progress of each kind of step, order, limits, and the critical
// errors that end it.
#include <gtest/gtest.h>

#include "mesh/tube_shape.hpp"
#include "sim/task/task_run.hpp"
#include "tests/sim/scene/scene_text.hpp"

namespace trocar {
namespace {

// An organ on ten fibres, which a grasper moves, and a duct.
class OperationRules : public ::testing::Test {
 protected:
  enum Organ : std::uint32_t { kOrgan, kDuct, kBystander };
  enum Tool : std::size_t { kGrasper, kHook };

  OperationRules() {
    shape_.path = {{0, 0, 0}, {0.04, 0, 0}};
    duct_ = tube_surface(shape_);
    organ_ = {{{-0.05f, -0.05f, 0.f}, {0.05f, -0.05f, 0.f}, {0.f, 0.05f, 0.f}}, {{0, 1, 2}}};
    stage_.organs = {"organ", "duct", "bystander"};
    stage_.instruments = {"grasper", "hook"};
    bystander_ = {{{1.f, 0.f, 0.f}, {1.1f, 0.f, 0.f}, {1.f, 0.1f, 0.f}}, {{0, 1, 2}}};
    stage_.surfaces = {organ_.view(), duct_.view(), bystander_.view()};
    stage_.jaws.resize(2);
    stage_.grasps = {1, 0};
    stage_.lines = {{}, centre_line(shape_), {}};
    stage_.tissue = {"bed", "band"};
    for (int k = 0; k < 10; ++k) stage_.fibres.push_back({k < 8 ? 0u : 1u, {0.01f * static_cast<float>(k), 0.f, 0.f}});
    task_.kind = TaskKind::Operation;
    task_.most_force = 100.0;
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
    tools_[kGrasper].pose.tip = glm::dvec3(0.0, 0.0, double(by) + 0.002);
    tools_[kGrasper].grip = held ? 0.0 : 1.0;
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
    organs_[organ].new_rest = walls;
    organs_[organ].faces_removed = 5;
    show();
    tools_[kHook].energy = Diathermy::Off, tools_[kHook].heats = 0;
    organs_[organ].new_rest = {};
    organs_[organ].faces_removed = 0;
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
                  {sources_, lost_}});
    }
  }
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
  glm::vec3 moved_{0.f};
  double time_ = 1.0;
};

TEST_F(OperationRules, AnOrganIsRetractedWhenAGrasperHoldsItFarEnough) {
  begin({retract()});
  EXPECT_EQ(run_->feed().hint, "1 of 1: retract, 20 mm more");
  EXPECT_EQ(run_->feed().step, 0u);
  move_organ(0.025f, false);
  EXPECT_EQ(run_->feed().progress, 0.0) << "no jaws hold it";
  move_organ(0.010f);
  EXPECT_NEAR(run_->feed().progress, 0.4, 1e-6);
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
  EXPECT_EQ(run_->feed().hint, "1 of 1: dissect, 53 %");
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
  EXPECT_EQ(run_->feed().hint, "1 of 1: other, 50 mm more");
  move_organ(0.06f, false);
  EXPECT_EQ(run_->feed().progress, 0.0) << "no jaws hold it";
  move_organ(0.06f);
  EXPECT_TRUE(run_->feed().finished);
}

TEST_F(OperationRules, ADuctWithoutClipsIsCutWhereTheTaskSaysSo) {
  task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
  task_.rules.clips_staying = 0.0;
  begin({of(StepKind::Divide)});
  EXPECT_EQ(run_->feed().hint, "1 of 1: other; duct: cut at the target");
  tubes_[kDuct] = {true, 0, 0, 0.02f};
  show();
  EXPECT_TRUE(run_->feed().finished);
  EXPECT_EQ(run_->result().score, 100.0);
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
  task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
  task_.rules.clips_staying = 0.0;
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

TEST_F(OperationRules, SpiltBileIsAnErrorAndTooMuchEndsTheOperation) {
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
  EXPECT_EQ(last_event(), "critical: the organ has spilt more than 10 ml of bile");
  EXPECT_TRUE(run_->feed().finished);
}

}  // namespace

// Tests scenes with the task "operation": faults are one sentence.

namespace {

class OperationScene : public test::SceneText {
 protected:
  OperationScene() : SceneText(test::shipped_scene("data/scenes/procedures/cholecystectomy.toml")) {}
};

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
