// Tests that every job of a list runs once and has ended when share() returns, for lists of all lengths, one after
// another and with pauses in which helpers fall asleep.
#include "geometry/team.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/test.hpp"

namespace trocar::team_test {
namespace {

class Teams : public ::testing::TestWithParam<int> {};

TEST_P(Teams, EveryJobRunsOnce) {
  Team team(GetParam());
  for (std::size_t count = 0; count < 300; ++count) {
    std::vector<int> runs(count, 0);
    team.share(count, [&](std::size_t i) { ++runs[i]; });
    EXPECT_EQ(runs, std::vector<int>(count, 1)) << count;
  }
}

// Each list reads what the one before has written.
TEST_P(Teams, AListBeginsWhenTheOneBeforeHasEnded) {
  constexpr std::size_t kJobs = 5;
  Team team(GetParam());
  std::vector<std::uint64_t> before(kJobs, 1), now(kJobs);
  for (int round = 0; round < 20000; ++round) {
    team.share(kJobs, [&](std::size_t i) { now[i] = before[i] + before[(i + 1) % kJobs]; });
    before.swap(now);
  }
  // The same in one loop.
  std::vector<std::uint64_t> alone(kJobs, 1), next(kJobs);
  for (int round = 0; round < 20000; ++round) {
    for (std::size_t i = 0; i < kJobs; ++i) next[i] = alone[i] + alone[(i + 1) % kJobs];
    alone.swap(next);
  }
  EXPECT_EQ(before, alone);
}

TEST_P(Teams, SleepingHelpersWakeUp) {
  Team team(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> sum = 0;
    team.share(16, [&](std::size_t i) {
      if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
      sum += static_cast<int>(i);
    });
    EXPECT_EQ(sum, 120);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Teams, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace trocar::team_test
