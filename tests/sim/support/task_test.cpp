// Tests that work beside the caller is never waited for, that every way to end it becomes a value or a sentence, and
// that abandoned work does not keep the program from ending.
#include "sim/support/task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "geometry/error.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
