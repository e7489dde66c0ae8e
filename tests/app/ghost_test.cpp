// Tests the ghost: its motion against formulas, its file against damage, the expert's run against a demonstration, and
// that a session with a ghost has the bits of one without.
#include "app/window/practice/ghost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "app/window/practice/practice.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "sim/hdf5/recording.hpp"
#include "tests/app/ball_task.hpp"

namespace trocar {
namespace {

constexpr const char* kSecondTarget = "[[task.place]]\norgan = \"ball\"\nat_mm = [35, 35, 0]\n";

glm::vec3 on_the_way(double time) { return {0.1f * static_cast<float>(time), 0.02f, -0.03f}; }

// One instrument on a straight line at 0.1 m/s for a second; two targets, reached after half of it and at the end.
Ghost straight() {
  Ghost ghost;
  ghost.step = 0.1;
  ghost.tools = 1;
  for (int k = 0; k <= 10; ++k) {
    const GhostPose pose{on_the_way(0.1 * k), static_cast<float>(10 * k), 1.f};
    add_sample(std::span(&pose, 1), k < 5 ? 0.0 : k < 10 ? 0.5 : 1.0, ghost);
  }
  return ghost;
}

TEST(Ghost, WithoutSamplesThereIsNothing) {
  std::vector<GhostPose> poses(3);
  pose_in_time({}, 1.0, poses);
  EXPECT_TRUE(poses.empty());
  pose_by_progress({}, 0.5, {}, poses);
  EXPECT_TRUE(poses.empty());
}

TEST(Ghost, InTimeItIsWhereTheExpertWas) {
  const Ghost ghost = straight();
  std::vector<GhostPose> poses;
  for (const double time : {0.0, 0.05, 0.31, 0.999, 1.0}) {
    pose_in_time(ghost, time, poses);
    ASSERT_EQ(poses.size(), 1u);
    EXPECT_LT(glm::distance(poses[0].tip, on_the_way(time)), 1e-6f) << time;
    EXPECT_NEAR(poses[0].roll_deg, 100.0 * time, 1e-3);
  }
  pose_in_time(ghost, -1.0, poses);
  EXPECT_EQ(poses[0].tip, on_the_way(0.0));
  pose_in_time(ghost, 100.0, poses);
  EXPECT_EQ(poses[0].tip, ghost.poses.back().tip);
}

TEST(Ghost, RollTurnsTheShorterWay) {
  Ghost ghost;
  ghost.step = 1.0, ghost.tools = 1;
  for (const float roll : {170.f, -170.f}) {
    const GhostPose pose{glm::vec3(0.f), roll, 1.f};
    add_sample(std::span(&pose, 1), 0.0, ghost);
  }
  std::vector<GhostPose> poses;
  pose_in_time(ghost, 0.5, poses);
  EXPECT_NEAR(std::abs(poses[0].roll_deg), 180.f, 1e-3f);
}

TEST(Ghost, ByProgressItIsAheadOfTheNearestPoseOfTheSameProgress) {
  const Ghost ghost = straight();
  std::vector<GhostPose> poses;
  const ProgressParams params{0.05, 0.2};
  const auto at = [&](double progress, const glm::vec3& tip) {
    pose_by_progress(ghost, progress, std::span(&tip, 1), poses, params);
    return poses[0].tip.x;
  };
  EXPECT_NEAR(at(0.0, on_the_way(0.2)), 0.1 * (0.2 + params.ahead), 1e-6);
  EXPECT_NEAR(at(0.5, on_the_way(0.7)), 0.1 * (0.7 + params.ahead), 1e-6);
  // Before the first target, the nearest pose is one of the first half.
  EXPECT_NEAR(at(0.0, on_the_way(0.9)), 0.1 * (0.4 + params.ahead), 1e-6);
  // The same position later in the task.
  EXPECT_NEAR(at(0.5, on_the_way(0.2)), 0.1 * (0.5 + params.ahead), 1e-6);
  // Progress between two samples, and beyond the last.
  EXPECT_NEAR(at(0.25, on_the_way(0.2)), 0.1 * (0.4 + params.ahead), 1e-6);
  EXPECT_NEAR(at(2.0, on_the_way(0.2)), 0.1, 1e-6);
}

TEST(Ghost, ProgressNeverFalls) {
  Ghost ghost;
  const GhostPose pose;
  ghost.tools = 1;
  for (const double progress : {0.1, 0.3, 0.2, 0.4}) add_sample(std::span(&pose, 1), progress, ghost);
  EXPECT_EQ(ghost.progress, (std::vector<float>{0.1f, 0.3f, 0.3f, 0.4f}));
}

TEST(GhostFile, ADamagedOrForeignFileCountsAsAbsent) {
  const TemporaryFolder folder;
  const Ghost ghost = straight();
  EXPECT_FALSE(load_ghost(folder.path(), 7));
  EXPECT_FALSE(load_ghost({}, 7));
  EXPECT_FALSE(save_ghost({}, 7, ghost));
  EXPECT_FALSE(save_ghost(folder.path(), 7, {}));
  ASSERT_TRUE(save_ghost(folder.path(), 7, ghost));
  const auto file = ghost_file(folder.path(), 7);
  const std::string good = read_file(file);
  const auto read = load_ghost(folder.path(), 7);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->progress, ghost.progress);
  ASSERT_EQ(read->poses.size(), ghost.poses.size());
  for (std::size_t k = 0; k < ghost.poses.size(); ++k) EXPECT_EQ(read->poses[k].tip, ghost.poses[k].tip);
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ 4);
    std::ofstream(file, std::ios::binary) << bad;
    EXPECT_FALSE(load_ghost(folder.path(), 7)) << "byte " << byte;
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, good.size() / 2, good.size() - 1}) {
    std::ofstream(file, std::ios::binary) << good.substr(0, bytes);
    EXPECT_FALSE(load_ghost(folder.path(), 7)) << bytes << " bytes";
  }
  std::ofstream(file, std::ios::binary) << good << good;
  EXPECT_FALSE(load_ghost(folder.path(), 7));
  // A ghost of another scene or version under this name.
  std::ofstream(ghost_file(folder.path(), 8), std::ios::binary) << good;
  EXPECT_FALSE(load_ghost(folder.path(), 8));
}

TEST(GhostFile, TheKeyIsThatOfTheScenesText) {
  const TemporaryFolder folder;
  const Scene one = load_scene(test::write_ball_task(folder)),
              two = load_scene(test::write_ball_task(folder, kSecondTarget));
  EXPECT_EQ(ghost_key(one), ghost_key(one));
  EXPECT_NE(ghost_key(one), ghost_key(two));
}

// Reads a ghost at the times of its samples.
void expect_motion(const Ghost& ghost, const Recording& recording) {
  ASSERT_GT(ghost.samples(), 10u);
  const auto every = static_cast<std::size_t>(std::lround(ghost.step * 60.0));
  EXPECT_EQ(ghost.samples(), (recording.frame_count() + every - 1) / every);
  for (std::size_t k = 0; k < ghost.samples(); ++k)
    ASSERT_EQ(ghost.at(k)[0].tip, glm::vec3(recording.pose(k * every, 0).tip)) << "sample " << k;
}

class GhostOfTheBall : public ::testing::Test {
 protected:
  PracticePlan plan() const {
    PracticePlan plan;
    plan.backend = "scan";
    plan.check = false;
    plan.folder = folder_.path() / "out";
    return plan;
  }

  TemporaryFolder folder_;
  Scene scene_ = load_scene(test::write_ball_task(folder_, kSecondTarget));
  std::filesystem::path cache_ = folder_.path() / "cache/ghosts";
};

// The independent motion is that of a demonstration in the window.
TEST_F(GhostOfTheBall, IsTheDemonstration) {
  PracticePlan shown = plan();
  shown.performer = Skill::Expert;
  Practice demonstration(scene_, shown, nullptr);
  demonstration.start();
  for (int k = 0; k < 6000 && demonstration.phase() == Phase::Running; ++k) demonstration.advance({}, 1.0 / 60.0, {});
  ASSERT_EQ(demonstration.phase(), Phase::Ended);
  const std::uint64_t key = ghost_key(scene_);
  GhostMaker(scene_, cache_).wait();
  const auto made = load_ghost(cache_, key);
  ASSERT_TRUE(made);
  expect_motion(*made, Recording(demonstration.recording()));
  EXPECT_EQ(made->progress.front(), 0.f);
  EXPECT_GT(made->progress.back(), 0.4f);
  std::printf("%zu samples, %ju bytes\n", made->samples(),
              static_cast<std::uintmax_t>(std::filesystem::file_size(ghost_file(cache_, key))));
  // The next session reads the file; a damaged one is computed again.
  std::vector<GhostPose> poses;
  {
    GhostMaker again(scene_, cache_);
    again.wait();
    EXPECT_TRUE(again.complete());
    again.pose(GhostMode::InTime, 0.0, 0.0, {}, poses);
    ASSERT_EQ(poses.size(), 1u);
    EXPECT_EQ(poses[0].tip, made->at(0)[0].tip);
    again.pose(GhostMode::Off, 0.0, 0.0, {}, poses);
    EXPECT_TRUE(poses.empty());
  }
  std::ofstream(ghost_file(cache_, key), std::ios::binary) << "not a ghost";
  GhostMaker(scene_, cache_).wait();
  EXPECT_TRUE(load_ghost(cache_, key));
}

// A maker that is not waited for ends soon, and leaves no part of a file.
TEST_F(GhostOfTheBall, CanBeLeft) {
  { const GhostMaker maker(scene_, cache_); }
  if (const auto left = load_ghost(cache_, ghost_key(scene_))) {
    EXPECT_GT(left->samples(), 10u);
  }
}

// Runs an attempt of ten seconds with the same hand, with and without a ghost.
std::vector<std::byte> bits_of_an_attempt(const Scene& scene, const PracticePlan& plan, GhostMode mode,
                                          std::size_t& drawn, double& score) {
  Practice practice(scene, plan, nullptr);
  practice.start();
  GhostShow show;
  for (int k = 0; k < 600; ++k) {
    WindowInput input;
    const double time = k / 60.0;
    input.pointer_motion = {40.0 * std::cos(2.0 * time), 30.0 * std::cos(3.1 * time)};
    input.wheel = time < 1.0 ? 0.4 : 0.3 * std::cos(1.7 * time);
    practice.advance(input, 1.0 / 60.0, {});
    drawn += show.tools(practice, mode).size();
  }
  score = practice.task()->feed().score;
  return practice.session().save();
}

TEST_F(GhostOfTheBall, ASessionWithAGhostHasTheSameBits) {
  setenv("XDG_CACHE_HOME", (folder_.path() / "home").c_str(), 1);
  std::size_t none = 0, drawn = 0, by_progress = 0;
  double scores[3] = {};
  const auto plain = bits_of_an_attempt(scene_, plan(), GhostMode::Off, none, scores[0]);
  EXPECT_EQ(none, 0u);
  GhostMaker(scene_, ghost_folder()).wait();
  EXPECT_EQ(bits_of_an_attempt(scene_, plan(), GhostMode::InTime, drawn, scores[1]), plain);
  EXPECT_EQ(bits_of_an_attempt(scene_, plan(), GhostMode::ByProgress, by_progress, scores[2]), plain);
  EXPECT_GT(drawn, 400u);
  EXPECT_GT(by_progress, 400u);
  EXPECT_EQ(scores[0], scores[1]);
  EXPECT_EQ(scores[0], scores[2]);
}

// A session may begin before the motion is computed: until then there is no ghost, and the show says that it waits.
TEST_F(GhostOfTheBall, TheShowNeverWaits) {
  setenv("XDG_CACHE_HOME", (folder_.path() / "empty").c_str(), 1);
  Practice practice(scene_, plan(), nullptr);
  practice.start();
  GhostShow show;
  EXPECT_FALSE(show.waits());
  for (int k = 0; k < 120; ++k) practice.advance({}, 1.0 / 60.0, {});
  bool waited = false;
  while (show.tools(practice, GhostMode::InTime).empty()) {
    ASSERT_TRUE(show.waits());
    waited = true;
    std::this_thread::yield();
  }
  EXPECT_FALSE(show.waits());
  std::printf("%s\n", waited ? "the ghost was computed meanwhile" : "the ghost was there at once");
  EXPECT_TRUE(show.tools(practice, GhostMode::Off).empty());
}

TEST_F(GhostOfTheBall, WhereThereCanBeNoneASentenceSaysWhy) {
  Scene free = scene_;
  free.task.reset();
  EXPECT_FALSE(can_have_ghost(free));
  Practice practice(free, plan(), nullptr);
  GhostShow show;
  EXPECT_TRUE(show.tools(practice, GhostMode::InTime).empty());
  EXPECT_EQ(GhostShow::why_none(practice, GhostMode::Off), "");
  EXPECT_NE(GhostShow::why_none(practice, GhostMode::InTime), "");
  Scene camera = scene_;
  camera.task->kind = TaskKind::NavigateCamera;
  EXPECT_FALSE(can_have_ghost(camera));
  EXPECT_TRUE(can_have_ghost(scene_));
}

// A demonstration before the attempt is not recorded.
TEST_F(GhostOfTheBall, ADemonstrationBeforeTheAttemptLeavesNoRecording) {
  PracticePlan shown = plan();
  shown.performer = Skill::Expert;
  shown.shown = true;
  Practice demonstration(scene_, shown, nullptr);
  demonstration.start();
  for (int k = 0; k < 6000 && demonstration.phase() == Phase::Running; ++k) demonstration.advance({}, 1.0 / 60.0, {});
  EXPECT_EQ(demonstration.phase(), Phase::Ended);
  EXPECT_TRUE(demonstration.task()->feed().done);
  EXPECT_TRUE(demonstration.recording().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
  EXPECT_EQ(demonstration.activity(), Activity::Demonstration);
  // Two targets and the task's end were heard.
  const SoundCues cues = sound_of(demonstration, true);
  EXPECT_EQ(cues.reached, 3u);
  EXPECT_EQ(cues.errors, demonstration.task()->feed().errors);
  EXPECT_FALSE(cues.pulse || cues.cut || cues.coagulate) << "time stands still";
}

}  // namespace
}  // namespace trocar
