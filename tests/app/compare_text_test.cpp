// Tests the texts of a comparison, and the progress lines in a log.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/compare/compare.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

TEST(CompareText, NamesTheFasterOne) {
  EXPECT_EQ(pace(1.0, 5.0), "5.0 times faster");
  EXPECT_EQ(pace(5.0, 1.0), "5.0 times slower");
  EXPECT_EQ(pace(1.0, 1.0), "as fast");
  EXPECT_EQ(pace(1.0, 1.04), "as fast");
  EXPECT_EQ(pace(1.06, 1.0), "1.1 times slower");
  EXPECT_EQ(pace(0.0, 1.0), "");
  EXPECT_EQ(pace(1.0, 0.0), "");
}

TEST(CompareText, TheTableNamesTheFasterOne) {
  CompareReport report;
  for (const auto& [name, ms] : {std::pair("compute", 12.5), {"obb-refit", 0.5}, {"obb", 2.5}}) {
    BackendResult result;
    result.name = name;
    result.total.median = ms;
    report.backends.push_back(result);
  }
  const std::string table = compare_table(report);
  for (const char* part : {"5.0 times slower", "5.0 times faster", "as fast"})
    EXPECT_NE(table.find(part), std::string::npos) << table;
}

// When standard error is a file, progress writes whole lines, at most one in ten seconds, and none within the first two
// seconds.
TEST(Progress, WritesLinesToALog) {
  testing::internal::CaptureStderr();
  {
    Progress progress("work", 100);
    progress.advance_to(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    for (std::size_t done = 2; done < 50; ++done) progress.advance_to(done);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(log.starts_with("work: 2 % (2 of 100), about ")) << log;
  EXPECT_TRUE(log.ends_with(" s left\n")) << log;
  EXPECT_EQ(log.find_first_of("\r\x1b"), std::string::npos) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

}  // namespace
}  // namespace trocar
