// Tests that each single fault of a scripted trainee ends the operation with its own critical error, live and from the
// recording. Seed 1; the scene of the cholecystectomy with coarse organs, without the stomach and the steps that the
// fault does not need.
#include <gtest/gtest.h>

#include "tests/sim/recorded_task.hpp"

namespace trocar {
namespace {

// `steps`: the kinds of the steps that stay; of the dissections, those of `tissue`.
Scene operation_of(std::vector<StepKind> kinds, const std::string& tissue) {
  Scene scene = load_scene(repository_file("data/scenes/procedures/cholecystectomy.toml"));
  scene.frame_rate = 30.0;
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.name == "stomach"; });
  std::erase_if(scene.task->limits, [](const TaskLimit& limit) { return limit.organ == "stomach"; });
  for (OrganScene& organ : scene.organs) {
    if (organ.name == "liver") organ.tissue.node_spacing = 0.018f;
    if (organ.name == "gallbladder") organ.tissue.node_spacing = 0.010f;
  }
  std::erase_if(scene.task->steps, [&](const TaskStep& step) {
    return std::ranges::count(kinds, step.kind) == 0 ||
           (step.kind == StepKind::Dissect && step.tissue.front().name != tissue);
  });
  return scene;
}

class OperationFaults : public ::testing::Test {
 protected:
  void expect_end(const Scene& scene, Fault fault, const std::string& text) {
    const TaskResult result = test::perform_and_score_again(scene, style_with(fault, 1.0), 1, folder_);
    EXPECT_FALSE(result.finished);
    EXPECT_LE(result.score, 30.0);
    ASSERT_FALSE(result.events.empty());
    EXPECT_EQ(result.events.back().text, text);
  }
  TemporaryFolder folder_;
};

TEST_F(OperationFaults, Unclipped) {
  expect_end(operation_of({StepKind::Divide}, ""), Fault::Unclipped,
             "critical: cystic duct cut without a clip on both sides");
}

TEST_F(OperationFaults, WrongDuct) {
  expect_end(operation_of({StepKind::Divide}, ""), Fault::WrongDuct, "critical: a clip on the common bile duct");
}

TEST_F(OperationFaults, DeepBurn) {
  expect_end(operation_of({StepKind::Dissect}, "bed"), Fault::DeepBurn,
             "critical: the liver is burnt deeper than 3.0 mm");
}

// The duct is to be cut without clips, to save time.
TEST_F(OperationFaults, NoView) {
  Scene scene = operation_of({StepKind::Dissect, StepKind::Divide}, "triangle between duct and artery");
  scene.task->rules.clips_staying = 0.0;
  expect_end(scene, Fault::NoView, "critical: divided before this step was done: clear the hepatocystic triangle");
}

}  // namespace
}  // namespace trocar
