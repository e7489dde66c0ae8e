// Tests work beside the caller, and the free space of a disk.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <thread>

#include "geometry/error.hpp"
#include "sim/support/files.hpp"
#include "sim/support/task.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// Tests that work beside the caller is never waited for, that every way to end it becomes a value or a sentence, and
// that abandoned work does not keep the program from ending.

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A door at which work waits until the test opens it; it outlives the work that waits.
class Door {
 public:
  void open() const { *open_ = true; }
  void wait() const {
    while (!*open_) std::this_thread::sleep_for(1ms);
  }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

template <typename T>
TaskOutcome<T> result_of(Task<T>& task) {
  auto result = task.wait(60s);
  return result ? std::move(*result) : TaskOutcome<T>{{}, "no result within 60 s"};
}

TEST(Task, WithoutWorkHasNoResult) {
  Task<int> task;
  EXPECT_FALSE(task.busy());
  EXPECT_FALSE(task.poll());
  task.abandon();
}

TEST(SideThread, DoesEachPieceOnceAndIsWaitedFor) {
  int sum = 0;
  SideThread beside;
  beside.wait();
  for (int k = 1; k <= 1000; ++k) {
    beside.start([&sum, k] { sum += k; });
    beside.wait();
    ASSERT_EQ(sum, k * (k + 1) / 2);
  }
  beside.start([&sum] {
    std::this_thread::sleep_for(20ms);
    sum = 0;
  });
  beside.wait();
  EXPECT_EQ(sum, 0);
}

TEST(Task, GivesItsValueOnce) {
  Task<std::string> task([] { return std::string("value"); });
  EXPECT_EQ(result_of(task).value, "value");
  EXPECT_FALSE(task.busy());
  EXPECT_FALSE(task.poll());
}

TEST(Task, TakesWorkAndValuesThatCannotBeCopied) {
  Task<std::unique_ptr<int>> task([owned = std::make_unique<int>(7)]() mutable { return std::move(owned); });
  const auto result = result_of(task);
  ASSERT_TRUE(result.value);
  EXPECT_EQ(**result.value, 7);
}

TEST(Task, PollNeverWaits) {
  const Door door;
  Task<int> task([door] { return door.wait(), 1; });
  EXPECT_FALSE(task.poll());  // would wait for ever: the door is closed
  EXPECT_TRUE(task.busy());
  door.open();
  EXPECT_EQ(result_of(task).value, 1);
}

TEST(Task, EveryExceptionIsASentence) {
  Task<int> run([]() -> int { throw RunError("the server is away; start it"); });
  EXPECT_EQ(result_of(run).fault, "the server is away; start it");
  Task<int> logic([]() -> int { throw std::logic_error("not a runtime_error"); });
  EXPECT_EQ(result_of(logic).fault, "not a runtime_error");
  Task<int> memory([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(result_of(memory).fault, "not enough memory");
  Task<int> odd([]() -> int { throw 7; });
  EXPECT_EQ(result_of(odd).fault, "an unknown error");
}

TEST(Task, DestructionAndReplacementNeverWait) {
  const Door door;
  {
    Task<int> task([door] { return door.wait(), 1; });
    task = Task<int>([door] { return door.wait(), 2; });
    Task<int> moved = std::move(task);
    EXPECT_TRUE(moved.busy());
  }
  door.open();  // reached although the work still waits
}

TEST(Task, AbandonedWorkIsAskedToStop) {
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  {
    Task<int> task([stopped](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
      *stopped = true;
      return 1;
    });
  }
  for (const auto start = Clock::now(); !*stopped && Clock::now() - start < 60s;) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(*stopped);
}

TEST(Task, WhatTheWorkOwnedIsFreeBeforeItsResultIsKnown) {
  const auto owned = std::make_shared<int>(1);
  Task<int> task([owned] { return *owned; });
  EXPECT_EQ(result_of(task).value, 1);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Task, ManyAtOnceGiveTheirOwnValues) {
  std::vector<Task<int>> tasks;
  for (int k = 0; k < 50; ++k) tasks.emplace_back([k] { return k; });
  for (int k = 0; k < 50; ++k) EXPECT_EQ(result_of(tasks[static_cast<std::size_t>(k)]).value, k);
}

TEST(Task, AThreadsExceptionDoesNotEndTheProgram) {
  testing::internal::CaptureStderr();
  run_guarded("The listener", [] { throw std::logic_error("no socket"); });
  run_guarded("The sender", [] { throw 7; });
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "The listener has ended: no socket\nThe sender has ended: an unknown error\n");
}

// The destructor of a static object that work still uses.
struct Trap {
  ~Trap() { std::_Exit(99); }
};

int main_with_work_that_never_ends() {
  static const Trap trap;
  Task<int> task([door = Door()] { return door.wait(), 1; });
  task.abandon();
  return end_with_tasks(3);
}

using TaskDeathTest = testing::Test;

TEST(TaskDeathTest, TheProgramEndsWithItsStatusBesideAbandonedWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start = Clock::now();
  EXPECT_EXIT(std::exit(main_with_work_that_never_ends()), testing::ExitedWithCode(3), "");
  EXPECT_LT(Clock::now() - start, 30s);
}

TEST(Task, TheEndOfAProgramWithoutWorkReturnsItsStatus) { EXPECT_EQ(end_with_tasks(4), 4); }

// Tests the free space of a disk and its words: empty and full disks, folders that do not exist, and the limits at
// which a user is warned.

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
