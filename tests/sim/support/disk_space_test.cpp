// Tests the free space of a disk and its words: empty and full disks, folders that do not exist, and the limits at
// which a user is warned.
#include "sim/support/files.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <fstream>
#include <limits>

#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(DiskSpace, AFolderThatIsNotThereYetHasTheSpaceOfItsDisk) {
  const TemporaryFolder folder;
  struct statvfs disk {};
  ASSERT_EQ(statvfs(folder.path().c_str(), &disk), 0);
  const double expected = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  for (const char* below : {"", "out", "out/of/nowhere"}) {
    const auto free = free_space(folder.path() / below);
    ASSERT_TRUE(free.has_value()) << below;
    EXPECT_NEAR(static_cast<double>(*free), expected, 0.05 * expected + 1e8) << below;  // others write meanwhile
  }
  EXPECT_NO_THROW(free_space(""));
}

TEST(DiskSpace, ARealDiskIsMeasuredAsItFills) {
  const TemporaryFolder folder;
  if (mount("none", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "cannot mount a small disk: this needs root";
  const std::uint64_t empty = free_space(folder.path() / "out").value_or(0);
  std::ofstream(folder.path() / "file") << std::string(3 << 20, 'x');
  const std::uint64_t fuller = free_space(folder.path() / "out").value_or(0);
  umount(folder.path().c_str());
  EXPECT_EQ(empty, 4u << 20);
  EXPECT_EQ(fuller, 1u << 20);
}

TEST(DiskSpace, SaysHowManyMinutesThereAre) {
  EXPECT_EQ(disk_text(214.9 * 60.0, 600.0), "Disk: space for 214 minutes of this task");
  EXPECT_EQ(disk_text(599.0, 300.0), "Disk: space for 9 minutes of this task: remove files soon");
  EXPECT_EQ(disk_text(119.0, 0.0), "Disk: space for 1 minute of this task: remove files soon");
  EXPECT_EQ(disk_text(700.0, 720.0),
            "Disk: space for 11 minutes of this task, which may take 12 minutes: the recording may end before the "
            "attempt does");
  EXPECT_EQ(disk_text(0.0, 0.0),
            "Disk: space for less than a minute of this task; no attempt can be recorded: remove files, or choose "
            "another folder with --folder");
  EXPECT_EQ(disk_text(std::numeric_limits<double>::infinity(), 0.0),
            "Disk: space for more than 6000 minutes of this task");
  EXPECT_EQ(low_disk_text(600.0), "");
  EXPECT_EQ(low_disk_text(599.0), "Disk: space for 9 minutes; then the recording ends, not the session");
}

TEST(DiskSpace, AnAttemptIsRefusedOnlyBelowAMinute) {
  EXPECT_EQ(disk_state(59.9, 600.0), DiskState::Full);
  EXPECT_EQ(disk_state(60.0, 600.0), DiskState::Short);
  EXPECT_EQ(disk_state(60.0, 0.0), DiskState::Low);
  EXPECT_EQ(disk_state(600.0, 600.0), DiskState::Enough);
}

}  // namespace
}  // namespace trocar
