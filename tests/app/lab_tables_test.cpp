// Tests the texts of the lab: columns, names of several bytes a letter, CSV cells, medians of the last attempts.
#include "app/lab/lab_tables.hpp"

#include <gtest/gtest.h>

namespace trocar {
namespace {

LabAttempt timed_attempt(double score, double time) {
  LabAttempt a;
  a.key = "k", a.person = "a, \"b\"", a.scene = "burn_line", a.score = score, a.started = 0.0, a.ending = "done";
  a.metrics = {{"task.task_time", time}};
  return a;
}

TEST(LabTables, ColumnsAlignLettersOfSeveralBytes) {
  const std::string table = people_table({{{"Zoë", "宮本 茂", 0.0}, 3, 2, 86400.0}, {{"al", "", 0.0}, 0, 0, 0.0}});
  EXPECT_EQ(table,
            "id   name  attempts  tasks  latest (UTC)\n"
            "Zoë  宮本 茂  3         2      1970-01-02 00:00\n"
            "al         0         0      -\n");
  EXPECT_EQ(people_table({}), "no people\n");
}

TEST(LabTables, ACommaOrAQuoteIsQuotedInCsv) {
  const std::string row = attempt_csv_row(timed_attempt(50.5, 1.25));
  EXPECT_EQ(row, "k,\"a, \"\"b\"\"\",1970-01-01 00:00,burn_line,1,,done,0,50.5,0,,,,task.task_time,1.25\n");
  LabAttempt bare = timed_attempt(1, 1);
  bare.metrics.clear(), bare.score.reset();
  EXPECT_EQ(attempt_csv_row(bare), "k,\"a, \"\"b\"\"\",1970-01-01 00:00,burn_line,1,,done,0,,0,,,,,\n");
}

TEST(LabTables, AComparisonHasTheMedianOfTheLastFiveAttempts) {
  PersonAttempts first{"one", {}}, second{"two", {timed_attempt(70, 30)}};
  for (int k = 0; k < 7; ++k) first.attempts.push_back(timed_attempt(k, k));
  const std::string table = comparison_table({first, second});
  EXPECT_NE(table.find("1        0    70\n"), std::string::npos) << table;
  EXPECT_NE(table.find("7        6\n"), std::string::npos) << table;
  EXPECT_NE(table.find("task.task_time        4    30\n"), std::string::npos) << table;
}

TEST(LabTables, AnEmptyComparisonHasNoRows) {
  EXPECT_EQ(comparison_table({{"one", {}}, {"two", {}}}), "attempt  one  two\n\nmedian of the last 5  one  two\n");
}

}  // namespace
}  // namespace trocar
