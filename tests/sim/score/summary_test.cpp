// Tests what a trainee reads first of a result: a score never reads better than it is, no part is full that was not
// reached, at most six measures.
#include "sim/score/trainee_summary.hpp"
#include "tests/support/test.hpp"

namespace trocar::summary_test {
namespace {

TEST(TraineeSummary, AScoreIsNeverRoundedUp) {
  EXPECT_EQ(score_text(84.77), "84.7");
  EXPECT_EQ(score_text(84.9999), "84.9");
  EXPECT_EQ(score_text(85.0), "85");
  EXPECT_EQ(score_text(0.0), "0");
  EXPECT_EQ(score_text(99.999), "99.9");
  EXPECT_EQ(score_text(100.0), "100");
  // A score below a limit with one decimal place reads as less than it, another one does not.
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(0.0, 100.0);
  for (int k = 0; k < 10000; ++k) {
    const double score = any(random), limit = std::round(any(random) * 10.0) / 10.0;
    if (std::abs(score - limit) < 1e-9) continue;
    ASSERT_EQ(std::stod(score_text(score)) < limit, score < limit) << score << " " << limit;
  }
}

TaskResult a_task() {
  TaskResult task{"operation", "Operation", false, 0.0, {}, {}};
  task.parts = {{"task_time", "Task time", "s", 60.0, 30.0, 90.0},
                {"task_blood", "Blood lost", "ml", 0.0, 4.0, 40.0},
                {"task_note", "Not graded", "", 1.0, {}, {}},
                {"task_errors", "Errors", "", 1.0, 0.0, 6.0}};
  return task;
}

TEST(TraineeSummary, NoPartIsFullThatWasNotReached) {
  TaskResult task = a_task();
  EXPECT_EQ(counted_text(task), "");
  EXPECT_EQ(counted_grade(task, task.parts[1]), 1.0);
  EXPECT_FALSE(counted_grade(task, task.parts[2]));
  task.progress = 0.125;
  EXPECT_EQ(counted_grade(task, task.parts[1]), 0.125);
  EXPECT_EQ(counted_text(task), "12 % of the task was done, so no part counts more than 12 %.");
  task.progress = 0.9, task.critical = "artery cut without clips";
  EXPECT_EQ(counted_grade(task, task.parts[1]), 0.3);
  EXPECT_EQ(counted_text(task), "After a critical error no part counts more than 30 %.");
}

// score = 100 x progress x mean of the grades (docs/tasks.md).
TEST(TraineeSummary, TheMeanOfTheCountedGradesIsTheScore) {
  TaskResult task = a_task();
  task.progress = 0.6;
  double sum = 0.0;
  for (const Metric& part : task.parts) sum += counted_grade(task, part).value_or(0.0);
  EXPECT_NEAR(100.0 * sum / 3.0, 100.0 * 0.6 * (0.5 + 1.0 + 5.0 / 6.0) / 3.0, 1e-12);
}

TEST(TraineeSummary, ThePartsThatCostMostComeFirst) {
  TaskResult task = a_task();
  EXPECT_EQ(costly_parts(task), (std::vector<std::size_t>{0, 3}));
  for (int k = 0; k < 20; ++k) task.parts.push_back({"task_clips", "Clips", "", 6.0, 3.0, 6.0});
  EXPECT_EQ(costly_parts(task).size(), kCostlyParts);
  EXPECT_EQ(costly_parts(task)[0], 4u);
}

TEST(TraineeSummary, SixMeasuresWithUnitsAndBands) {
  Attempt attempt;
  attempt.duration = 50.0;
  attempt.overall = {{"duration", "Scored time", "s", 50.0, 30.0, 90.0},
                     {"peak_pressure", "Peak pressure", "kPa", 10.0, 100.0, 250.0},
                     {"peak_force", "Peak force", "N", 1.5, 2.0, 4.0},
                     {"task_errors", "Errors", "", 2.0, 0.0, 6.0}};
  const auto tool = [](double path, double count, double hidden) {
    return InstrumentScore{"tool",
                           {{"path_length", "Path length", "mm", path, {}, {}},
                            {"sparc", "Spectral arc length", "", -3.0, {}, {}},
                            {"movements", "Movements", "", count, {}, {}},
                            {"out_of_view_time", "Tip out of view", "s", hidden, 0.0, 5.0}}};
  };
  attempt.instruments = {tool(200.0, 4.0, 1.0), tool(300.0, 5.0, 0.5)};
  const std::vector<Metric> list = trainee_metrics(attempt);
  ASSERT_EQ(list.size(), 6u);
  const double values[] = {50.0, 9.0, 500.0, 1.5, 1.5, 2.0};
  const char* bands[] = {
      "good up to 30 s, poor from 90 s", "", "", "good up to 0 s, poor from 5 s", "good up to 2 N, poor from 4 N",
      "good up to 0, poor from 6"};
  for (std::size_t k = 0; k < list.size(); ++k) {
    EXPECT_EQ(list[k].value, values[k]) << list[k].id;
    EXPECT_EQ(reference_text(list[k]), bands[k]) << list[k].id;
  }
  attempt.instruments[1].metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(trainee_metrics(attempt)[2].value));
  EXPECT_NE(no_judgement_text(attempt).find("no judgement"), std::string::npos);
  attempt.task = a_task();
  EXPECT_EQ(no_judgement_text(attempt), "");
}

TEST(TraineeSummary, CountsHaveTheirNumber) {
  EXPECT_EQ(counted(0, "error"), "0 errors");
  EXPECT_EQ(counted(1, "error"), "1 error");
  EXPECT_EQ(counted(2, "error"), "2 errors");
}

}  // namespace
}  // namespace trocar::summary_test
