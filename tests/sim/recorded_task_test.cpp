// Tests that the score of a performed task follows from its recording too: of a task at a level, of clipping and
// cutting, and of an operation. Scripted trainees perform them in a session.
#include <gtest/gtest.h>

#include "sim/review/score_recording.hpp"
#include "sim/scene/scene_variants.hpp"
#include "tests/sim/recorded_task.hpp"

namespace trocar {
namespace {

TEST(RecordedTask, TheRecordingOfALevelAloneGivesItsScoreAndItsNumber) {
  const TemporaryFolder folder;
  const Scene scene = with_level(test::coarse_scene("touch_targets", folder), 3);
  const TaskResult live = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(live.finished);
  const std::filesystem::path file = folder.path() / "s.h5";
  const Scene recorded = recorded_scene(Recording(file), file);
  EXPECT_EQ(recorded.task->at_level, 3);
  EXPECT_EQ(recorded.task->tolerance, scene.task->tolerance);
  EXPECT_EQ(recorded.instruments[0].pivot, scene.instruments[0].pivot);
}

// The expert divides the duct, the clumsy trainee does not get that far, and the recording gives the same score.
TEST(RecordedTask, OfClippingAndCuttingHasItsScore) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/clip_and_cut.toml"));
  // Coarser organs and one duct, to save time.
  scene.organs[0].tissue.node_spacing = 0.018f, scene.organs[1].tissue.node_spacing = 0.009f;
  scene.task->locations.resize(1);
  scene.task->time_good = 24.0, scene.task->time_limit = 25.0;
  const TaskResult expert = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(expert.finished);
  EXPECT_GE(expert.score, 85.0);
  const TaskResult clumsy = test::perform_and_score_again(scene, style_of(Skill::Clumsy), 1, folder);
  EXPECT_FALSE(clumsy.finished);
  EXPECT_LT(clumsy.score, 50.0);
}

// The expert stretches the band and cuts it, the clumsy trainee does it badly, and the recording gives the same score.
TEST(RecordedTask, OfACutBandHasItsScore) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/cut_band.toml"));
  scene.organs.erase(scene.organs.begin());  // the liver, to save time
  const TaskResult expert = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(expert.finished);
  EXPECT_GE(expert.score, 85.0);
  const TaskResult clumsy = test::perform_and_score_again(scene, style_of(Skill::Clumsy), 1, folder);
  EXPECT_LT(clumsy.score, 50.0);
}

}  // namespace
}  // namespace trocar
