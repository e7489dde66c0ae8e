// Tests the names of activities, and the ending of a run without a task.
#include <gtest/gtest.h>

#include "sim/record/run_note.hpp"

namespace trocar {
namespace {

TEST(Activities, NamesOfActivitiesAreReadBack) {
  for (const Activity activity : {Activity::Attempt, Activity::Demonstration, Activity::Replay, Activity::Script})
    EXPECT_EQ(activity_named(name_of(activity)), activity);
  EXPECT_EQ(activity_named(""), std::nullopt);
  EXPECT_EQ(activity_named("game"), std::nullopt);
}

TEST(Activities, WithoutATaskARunIsStopped) { EXPECT_EQ(ending_of(nullptr), Ending::Stopped); }

}  // namespace
}  // namespace trocar
