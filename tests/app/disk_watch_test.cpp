// Tests how the window knows and says what the disk has room for, and an attempt on a disk that is full or becomes
// full.
#include "app/window/practice/disk_watch.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "app/window/practice/practice_screen.hpp"
#include "app/window/screens/results_screen.hpp"
#include "sim/hdf5/recording_rate.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using namespace std::chrono_literals;

class DiskWatchTest : public ::testing::Test {
 protected:
  ~DiskWatchTest() override {
    if (mounted_) umount(disk_.c_str());
  }
  // Calls until the disk and the scene are known.
  static void know(DiskWatch& watch, const Scene& scene) {
    for (int k = 0; k < 20000 && !watch.seconds(); ++k, std::this_thread::sleep_for(1ms)) watch.watch(scene, 1e-3);
  }
  bool mount_disk(const std::string& size) {
    std::filesystem::create_directories(disk_);
    return mounted_ = mount("none", disk_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }

  TemporaryFolder folder_;
  std::filesystem::path disk_ = folder_.path() / "disk";
  Scene scene_ = load_scene(test::write_ball_task(folder_));
  bool mounted_ = false;
};

TEST_F(DiskWatchTest, TheRoomIsThatOfTheScene) {
  DiskWatch watch(folder_.path() / "out");
  EXPECT_EQ(watch.text(), "");
  EXPECT_FALSE(watch.blocks());
  know(watch, scene_);
  ASSERT_TRUE(watch.seconds().has_value());
  const double expected = static_cast<double>(*free_space(folder_.path())) / recording_rate(scene_);
  EXPECT_NEAR(*watch.seconds(), expected, 0.1 * expected);
  EXPECT_NE(watch.text().find("Disk: space for "), std::string::npos) << watch.text();
  EXPECT_EQ(watch.warning(), "");
}

TEST_F(DiskWatchTest, ASceneThatCannotBeReadHasNoRoomInMinutes) {
  DiskWatch watch(folder_.path());
  Scene broken = scene_;
  broken.organs.front().tissue.node_spacing = 1e3;
  for (int k = 0; k < 300; ++k, std::this_thread::sleep_for(1ms)) watch.watch(broken, 1.0);
  EXPECT_EQ(watch.text(), "");
  EXPECT_FALSE(watch.blocks());
}

TEST_F(DiskWatchTest, ARecordingThatRunsIsMeasured) {
  if (!mount_disk("8m")) GTEST_SKIP() << "cannot mount a small disk: this needs root";
  DiskWatch watch(disk_);
  const auto recording = disk_ / "a.h5";
  std::ofstream(recording) << std::string(4 << 20, 'x');
  for (int k = 0; k < 3000 && watch.warning().empty(); ++k, std::this_thread::sleep_for(1ms)) {
    watch.measure(recording, 130.0);  // 4 MiB: the remaining part is as long
    watch.watch(scene_, 1.0);
  }
  for (int k = 0; k < 200; ++k, std::this_thread::sleep_for(1ms)) {
    watch.measure(recording, 130.0);
    watch.watch(scene_, 1.0);
  }
  ASSERT_TRUE(watch.seconds().has_value());
  EXPECT_NEAR(*watch.seconds(), 130.0, 1.0);
  EXPECT_EQ(watch.warning(), "Disk: space for 2 minutes; then the recording ends, not the session");
}

TEST_F(DiskWatchTest, AnAttemptThatCannotBeRecordedDoesNotBegin) {
  if (!mount_disk("64k")) GTEST_SKIP() << "cannot mount a small disk: this needs root";
  WindowSettings settings;
  GhostShow ghost;
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.folder = disk_;
  PracticeScreen screen(std::make_unique<Practice>(scene_, plan, nullptr), settings, ghost, disk_, nullptr);
  WindowInput enter;
  for (int k = 0; k < 20000 && screen.status().disk.empty(); ++k, std::this_thread::sleep_for(1ms))
    screen.step(WindowInput{}, 1e-3, true);
  EXPECT_NE(screen.status().disk.find("no attempt can be recorded: remove files"), std::string::npos)
      << screen.status().disk;
  enter.pressed = {Key::Enter};
  screen.step(enter, 1e-3, true);
  EXPECT_EQ(screen.status().phase, "ready");
  EXPECT_TRUE(std::filesystem::is_empty(disk_));
}

// The disk becomes full in mid-attempt: what was recorded is kept and shown.
TEST_F(DiskWatchTest, AFullDiskShowsTheResultsSoFar) {
  if (!mount_disk("6m")) GTEST_SKIP() << "cannot mount a small disk: this needs root";
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.folder = disk_;
  Practice practice(scene_, plan, nullptr);
  practice.start();
  for (int k = 0; k < 20000 && practice.phase() == Phase::Running; ++k) {
    practice.advance(WindowInput{}, 1.0 / 60.0, {});
    std::this_thread::sleep_for(10ms);  // frames are on the disk three times a second
  }
  EXPECT_EQ(practice.phase(), Phase::Ended);
  EXPECT_NE(practice.recording_fault().find("No space left on device"), std::string::npos)
      << practice.recording_fault();
  const LabPlaces places{folder_.path() / "lab.sqlite", folder_.path() / "waiting", folder_.path() / "lab.toml"};
  const LabStation station(places);
  LabDesk desk(station, {});
  ResultsScreen results(practice.recording(), practice.recording_fault(), station, desk);
  for (int k = 0; k < 1000 && results.status().phase == "measuring"; ++k, std::this_thread::sleep_for(5ms))
    results.step(WindowInput{}, 0.01, true);
  EXPECT_EQ(results.status().phase, "measured") << results.status().note;
  EXPECT_NE(results.status().disk.find("No space left on device"), std::string::npos) << results.status().disk;
}

}  // namespace
}  // namespace trocar
