// Tests that scripted trainees perform every task, and that the score separates the expert from the clumsy one, with
// the seeds 1, 2, 3.
#include "sim/task/performer.hpp"

#include <gtest/gtest.h>

#include "tests/sim/performed_task.hpp"

namespace trocar {
namespace {

class Performers : public ::testing::TestWithParam<std::string> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(Performers, TheScoreSeparatesExpertAndClumsy) {
  Scene scene = test::coarse_scene(GetParam(), folder_);
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

// With each seed the average trainee scores between the other two.
TEST_P(Performers, TheAverageTraineeIsBetween) {
  Scene scene = test::coarse_scene(GetParam(), folder_);
  const std::uint32_t seed = 1;
  const TaskResult expert = test::perform(scene, style_of(Skill::Expert), seed),
                   average = test::perform(scene, style_of(Skill::Average), seed);
  scene.task->time_limit = 45.0;  // s   of the clumsy trainee
  const TaskResult clumsy = test::perform(scene, style_of(Skill::Clumsy), seed);
  std::printf("%-18s expert %5.1f   average %5.1f %s   clumsy %5.1f\n", GetParam().c_str(), expert.score, average.score,
              average.finished ? "finished" : "out of time", clumsy.score);
  EXPECT_TRUE(average.finished);
  EXPECT_LE(average.score, expert.score);
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
  const Scene scene = test::coarse_scene(GetParam(), folder_);
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
  Scene scene = test::coarse_scene("navigate_camera", folder);
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
  Scene scene = test::coarse_scene("navigate_camera", folder);
  for (const float spin : {120.f, 180.f}) {
    scene.scope.angle_deg = 30.f, scene.scope.spin_deg = spin;
    const TaskResult result = test::perform(scene, style_of(Skill::Expert), 1);
    EXPECT_TRUE(result.finished) << spin;
    EXPECT_GT(result.score, 90.0) << spin;
  }
}

}  // namespace
}  // namespace trocar
