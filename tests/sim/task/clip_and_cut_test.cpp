// Tests the task "clip and cut" with frames made by hand: progress, errors, critical errors that end it; and
// faults of its scene.
#include <gtest/gtest.h>

#include <functional>

#include "mesh/tube_shape.hpp"
#include "sim/task/task_run.hpp"
#include "tests/sim/scene/scene_text.hpp"

namespace trocar {
namespace {

// A duct of 40 mm that is to be divided in its middle, another duct, and a sheet of other tissue.
class ClipAndCutRules : public ::testing::Test {
 protected:
  enum Organ : std::uint32_t { kDuct, kOther, kLiver };

  ClipAndCutRules() {
    shape_.path = {{0, 0, 0}, {0.04, 0, 0}};
    mesh_ = tube_surface(shape_);
    task_.kind = TaskKind::ClipAndCut;
    task_.locations = {{"duct", {0.02f, 0.f, 0.f}, TubeSide::Start}};
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
    placed.clip.organ = organ;
    placed.clip.count = organ == kNoOrgan ? 0 : 4;
    placed.along = static_cast<float>(along);
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
      run_->step({time_, tools_, organs_, marks_, {}, {}, {}, clips_, tubes_});
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
                           Case{"critical: a clip on the other duct", [&] { clip(kOther, 0.01); }},
                           Case{"critical: duct cut without a clip on both sides", [&] { divide(kDuct, 3, 0); }}}) {
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
}

}  // namespace
}  // namespace trocar
