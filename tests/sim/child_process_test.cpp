// Tests what the caller learns about a child process that ends, fails, crashes or hangs.
#include "sim/support/child_process.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trocar {
namespace {

ChildResult shell(const std::string& script, int seconds = 20) {
  const std::vector<std::string> arguments{"-c", script};
  return run_child("/bin/sh", arguments, std::chrono::seconds(seconds));
}

TEST(ChildProcess, ReturnsOutputAndStatus) {
  const ChildResult good = shell("echo one; echo hidden >&2; echo two");
  EXPECT_EQ(good.output, "one\ntwo\n");
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.failure, "");
  EXPECT_EQ(shell("exit 3").status, 3);
  EXPECT_EQ(shell("head -c 300000 /dev/zero").output.size(), 300000u) << "more than a pipe holds";
}

TEST(ChildProcess, ACrashDoesNotEndTheCaller) {
  const ChildResult crash = shell("echo before; kill -SEGV $$");
  EXPECT_EQ(crash.output, "before\n");
  EXPECT_EQ(crash.status, -1);
  EXPECT_EQ(crash.failure, "crashes (signal 11)");
}

TEST(ChildProcess, AChildThatHangsIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult hang = shell("exec sleep 60", 1);
  EXPECT_EQ(hang.failure, "does not end within 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// Closing the output is not the end: the limit holds until the process itself ends.
TEST(ChildProcess, AChildThatClosesItsOutputIsKilledAtTheLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult silent = shell("echo before; exec >&-; sleep 60", 1);
  EXPECT_EQ(silent.failure, "does not end within 1 s");
  EXPECT_EQ(silent.status, -1);
  EXPECT_EQ(silent.output, "before\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  const ChildResult late = shell("echo before; exec >&-; sleep 0.2; exit 3");
  EXPECT_EQ(late.failure, "");
  EXPECT_EQ(late.status, 3);
}

// The pipe stays open as long as any process holds it; the child's end is what counts.
TEST(ChildProcess, AGrandchildThatHoldsTheOutputDelaysNothing) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult parent = shell("sleep 60 & echo $!; exit 4", 30);
  EXPECT_EQ(parent.failure, "");
  EXPECT_EQ(parent.status, 4);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  // What it left behind has been killed.
  const std::string grandchild = parent.output.substr(0, parent.output.find('\n'));
  EXPECT_NE(shell("sleep 0.2; grep -q '^State:[[:space:]]*[RSDT]' /proc/" + grandchild + "/status").status, 0);
  const ChildResult both = shell("sleep 60 & exec >&-; sleep 60", 1);
  EXPECT_EQ(both.failure, "does not end within 1 s");
}

TEST(ChildProcess, AChildThatWritesEndlesslyIsKilled) {
  const ChildResult flood = shell("exec cat /dev/zero", 60);
  EXPECT_EQ(flood.failure, "writes more than 64 MiB");
  EXPECT_LT(flood.output.size(), std::size_t{65} << 20);
}

TEST(ChildProcess, AMissingProgramIsAFailure) {
  const ChildResult missing = run_child("/nonexistent", {}, std::chrono::seconds(5));
  EXPECT_EQ(missing.failure, "cannot be started (No such file or directory)");
}

}  // namespace
}  // namespace trocar
