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

TEST(ChildProcess, AMissingProgramIsAFailure) {
  const ChildResult missing = run_child("/nonexistent", {}, std::chrono::seconds(5));
  EXPECT_EQ(missing.failure, "cannot be started (No such file or directory)");
}

}  // namespace
}  // namespace trocar
