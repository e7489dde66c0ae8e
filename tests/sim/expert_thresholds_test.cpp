// Tests thresholds from experts against values computed by hand: the distribution, what is trimmed, the rule of each
// metric, and the sentences for attempts that give no thresholds.
#include "sim/course/course_progress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

ExpertAttempt expert(double score, double time, double force, const char* who = "a") {
  ExpertAttempt e;
  e.attempt.scene = "touch", e.attempt.score = score, e.attempt.finished = true;
  e.attempt.metrics = {{"task_time", time}, {"task_peak_force", force}, {"task_errors", 1.0}};
  e.expert = who, e.source = "s.h5";
  return e;
}

std::string sentence_of(const std::vector<ExpertAttempt>& attempts) {
  try {
    expert_thresholds(attempts, ExpertRule::TrimmedMean);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ExpertThresholds, NoneOneAndMixedAttemptsAreRefusedWithASentence) {
  EXPECT_NE(sentence_of({}).find("there is no attempt"), std::string::npos);
  EXPECT_NE(sentence_of({expert(90, 10, 1)}).find("1 of 1 attempts is finished"), std::string::npos);
  ExpertAttempt other = expert(90, 10, 1);
  other.attempt.level = 2, other.source = "t.h5";
  EXPECT_EQ(sentence_of({expert(90, 10, 1), other}),
            "s.h5 is an attempt at touch, level 1, but t.h5 at touch, level 2; name attempts at one task");
  ExpertAttempt unfinished = expert(50, 10, 1), critical = expert(30, 10, 1);
  unfinished.attempt.finished = false, critical.attempt.critical_error = true;
  EXPECT_NE(sentence_of({unfinished, critical, expert(kUndefined, 1, 1)}).find("0 of 3"), std::string::npos);
}

TEST(ExpertValuesOf, ClosedForms) {
  EXPECT_EQ(expert_values({}).n, 0u);
  EXPECT_EQ(expert_values(std::array{kUndefined}).n, 0u);
  const ExpertValues one = expert_values(std::array{3.0});
  EXPECT_EQ(one.n, 1u);
  EXPECT_EQ(one.sd, 0.0);
  // 1 .. 9: mean 5, variance of a sample n (n + 1) / 12 = 7.5.
  const ExpertValues nine = expert_values(std::array{9.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0});
  EXPECT_EQ(nine.mean, 5.0);
  EXPECT_DOUBLE_EQ(nine.sd, std::sqrt(7.5));
  EXPECT_EQ(nine.median, 5.0);
  EXPECT_EQ(nine.least, 1.0);
  EXPECT_EQ(nine.most, 9.0);
  EXPECT_EQ(expert_values(std::array{1.0, 2.0, 4.0, 9.0}).median, 3.0);
  const ExpertValues equal = expert_values(std::array{0.1, 0.1, 0.1});
  EXPECT_EQ(equal.n, 3u);
  EXPECT_DOUBLE_EQ(equal.mean, 0.1);
}

// Of n - 1 equal values and one other, the other lies (n - 1) / sqrt(n) SD from the mean: 1.79 for n = 5, 2.04 for 6.
TEST(ExpertValuesOf, AnOutlierIsTrimmedFromSixValuesOn) {
  EXPECT_EQ(expert_values(std::array{1.0, 1.0, 1.0, 1.0, 100.0}).trimmed, 0u);
  const ExpertValues six = expert_values(std::array{1.0, 1.0, 1.0, 1.0, 1.0, 100.0});
  EXPECT_EQ(six.trimmed, 1u);
  EXPECT_EQ(six.n, 5u);
  EXPECT_EQ(six.mean, 1.0);
  EXPECT_EQ(six.most, 1.0);
}

TEST(ExpertThresholds, ScoreAndTimeAreMeansAndWhatIsAllowedIsTheLargestValue) {
  ExpertAttempt unfinished = expert(10, 500, 50, "c");
  unfinished.attempt.finished = false;
  const std::vector<ExpertAttempt> attempts{expert(90, 10, 1.0, "a"), expert(96, 11, 1.5, "b"),
                                            expert(94, 18, 1.2, "b"), unfinished};
  const ExpertThresholds mean = expert_thresholds(attempts, ExpertRule::TrimmedMean);
  EXPECT_EQ(mean.attempts, 3u);
  EXPECT_EQ(mean.left_out, 1u);
  EXPECT_EQ(mean.experts, 2u);
  EXPECT_EQ(mean.find("score")->threshold, 93.333);  // 93.33333 down
  EXPECT_FALSE(mean.find("score")->at_most);
  EXPECT_EQ(mean.find("task_time")->threshold, 13.0);
  EXPECT_EQ(mean.find("task_peak_force")->threshold, 1.5);
  EXPECT_EQ(mean.find("task_errors")->threshold, 1.0);
  EXPECT_EQ(mean.find("task_tremor"), nullptr);
  const ExpertThresholds median = expert_thresholds(attempts, ExpertRule::Median);
  EXPECT_EQ(median.find("score")->threshold, 94.0);
  EXPECT_EQ(median.find("task_time")->threshold, 11.0);
  EXPECT_EQ(median.find("task_peak_force")->threshold, 1.5);
}

// With the median of an odd number of attempts, the attempt in the middle passes its own criteria.
TEST(ExpertThresholds, RoundingNeverRefusesTheValueThatAThresholdComesFrom) {
  for (int k = 0; k < 200; ++k) {
    const double score = 80.0 + k / 17.0, time = 20.0 + k / 13.0, force = 1.0 + k / 7.0;
    const std::vector<ExpertAttempt> attempts{expert(score, time, force), expert(score, time, force)};
    const ExpertThresholds found = expert_thresholds(attempts, ExpertRule::Median);
    EXPECT_LE(found.find("score")->threshold, score + 2e-9);
    EXPECT_GE(found.find("task_time")->threshold, time - 2e-9);
    EXPECT_NEAR(found.find("task_time")->threshold, time, 1.001e-3);
    EXPECT_GE(found.find("task_peak_force")->threshold, force - 2e-9);
  }
}

}  // namespace
}  // namespace trocar
