// Tests the texts that explain a grade and a critical error, and that doing nothing in a task is worth nothing.
#include "sim/score/attempt.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/sim/every_kind.hpp"

namespace trocar {
namespace {

using test::FramesAtRest;

// The time limit is 2 s, a frame 0.02 s: the task runs out of time.
TEST(EveryKindOfTask, DoingNothingIsWorthNothingAtAnyTime) {
  for (const TaskKind kind : test::kEveryKind) {
    FramesAtRest frames;
    TaskRun run(FramesAtRest::task(kind), frames.stage());
    int count = 0;
    while (!run.feed().finished && ++count < 1000) {
      run.step(frames.next(run));
      ASSERT_EQ(run.feed().score, 0.0) << name_of(kind) << ", frame " << count;
    }
    EXPECT_NEAR(run.feed().elapsed, 2.0, 0.021) << name_of(kind);
    EXPECT_FALSE(run.result().finished) << name_of(kind);
    EXPECT_EQ(run.result().score, 0.0) << name_of(kind);
  }
}

TEST(GradeTexts, NoSentenceIsUsedTwice) {
  std::set<std::string> sentences;
  for (const GradeSentences& row : grade_sentences()) {
    EXPECT_TRUE(sentences.insert(row.reason).second) << row.reason;
    EXPECT_TRUE(sentences.insert(row.advice).second) << row.advice;
  }
}

TEST(GradeTexts, SayValueAndThresholdsAndNothingWithoutAGrade) {
  const Metric time{"task_time", "", "s", 41.25, 25.0, 90.0};
  EXPECT_EQ(grade_text(time, "burn-line").why, "The task took 41.2 s (full grade up to 25 s, grade 0 from 90 s).");
  const Metric burnt{"task_burnt", "", "%", 50.0, 95.0, 40.0};
  EXPECT_EQ(grade_text(burnt, "burn-line").why,
            "The burnt share of the line was 50 % (full grade from 95 %, grade 0 down to 40 %).");
  EXPECT_NE(grade_text({"task_detour", "", "", 2.0, 1.2, 3.0}, "navigate-camera").why,
            grade_text({"task_detour", "", "", 2.0, 1.2, 3.0}, "keep-out").why);
  EXPECT_TRUE(grade_text({"task_time", "", "s", 41.25, {}, {}}, "").why.empty());
  EXPECT_TRUE(grade_text({"task_tremor", "", "mm", std::nan(""), 1.0, 2.0}, "").advice.empty());
  EXPECT_EQ(value_with_unit(1234.5, "mm"), "1234 mm");
  EXPECT_EQ(value_with_unit(0.125, ""), "0.125");
}

TEST(CriticalError, IsNamedAsTheReasonOfTheCap) {
  Attempt attempt;
  attempt.task = TaskResult{"clip-and-cut", "Clip", false, 30.0, {}, {}, "duct cut without a clip on both sides"};
  EXPECT_EQ(cap_text(*attempt.task),
            "Critical error: duct cut without a clip on both sides. It ended the task, and the score is at most 30.");
  const auto json = nlohmann::json::parse(to_json(attempt));
  EXPECT_EQ(json["task"]["critical"]["error"], "duct cut without a clip on both sides");
  EXPECT_EQ(json["task"]["critical"]["cap"], 30.0);
  EXPECT_TRUE(cap_text({}).empty());
}

}  // namespace
}  // namespace trocar
