// Tests curricula: progress in them, their reader, and the curve of practice.
#include <regex>

#include "geometry/error.hpp"
#include "sim/course/course_progress.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/score/learning_curve.hpp"
#include "sim/task/task_goal.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the progress in a curriculum: degenerate lists first, then passes, refreshers and locks by hand, then random
// curricula and attempts against a slow computation that follows the definitions word by word.

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kDaySeconds = 86400.0;

Curriculum curriculum_of(const std::string& steps) { return parse_curriculum("title = \"t\"\n" + steps, "c.toml"); }

const std::string kOneStep = "[[step]]\nname = \"a\"\nscene = \"a.toml\"\nleast_score = 80\nin_a_row = 2\nin_all = 3\n";

CourseAttempt attempt_at(double date, double score, const std::string& scene = "a", int level = 1) {
  CourseAttempt attempt;
  attempt.scene = scene, attempt.level = level, attempt.date = date, attempt.score = score, attempt.finished = true;
  return attempt;
}

StepProgress only_step(const Curriculum& curriculum, const std::vector<CourseAttempt>& attempts, double now = 1e9) {
  return course_progress(curriculum, attempts, now).at(0);
}

TEST(CourseProgress, IsOpenWithoutAttempts) {
  const StepProgress progress = only_step(curriculum_of(kOneStep), {});
  EXPECT_EQ(progress.state, StepState::Open);
  EXPECT_EQ(progress.attempts, 0);
  EXPECT_FALSE(progress.best || progress.passed_on || progress.due_on);
}

TEST(CourseProgress, IgnoresOtherScenesOtherLevelsAndAttemptsWithoutADate) {
  const StepProgress progress = only_step(
      curriculum_of(kOneStep), {attempt_at(1, 90, "b"), attempt_at(2, 90, "a", 2), attempt_at(kNotANumber, 90),
                                attempt_at(std::numeric_limits<double>::infinity(), 90)});
  EXPECT_EQ(progress.attempts, 0);
  EXPECT_FALSE(progress.best);
}

// Neither a pass nor a failure: the passes before and after it follow each other.
TEST(CourseProgress, AnAttemptOnAMachineThatIsTooSlowIsPractice) {
  const Curriculum c = curriculum_of(kOneStep);
  for (const char* id : {"lost_share", "worst_lost_share"}) {
    CourseAttempt slow = attempt_at(2, 99);
    slow.metrics[id] = 3.1;
    EXPECT_EQ(missed_criteria(c.steps[0], slow),
              (std::vector<std::string>{"The machine was too slow: the attempt is practice and does not count."}));
    const StepProgress progress = only_step(c, {attempt_at(1, 90), slow, attempt_at(3, 90)});
    EXPECT_EQ(progress.attempts, 2);
    EXPECT_EQ(progress.in_a_row, 2);
    EXPECT_EQ(progress.best, 90.0);
    slow.metrics[id] = 2.9;
    EXPECT_TRUE(missed_criteria(c.steps[0], slow).empty());
    EXPECT_EQ(only_step(c, {attempt_at(1, 90), slow}).attempts, 2);
  }
}

TEST(CourseProgress, AnUndefinedScoreOrMetricIsNotAPass) {
  const Curriculum c = curriculum_of(
      "[[step]]\nname = \"a\"\nscene = \"a.toml\"\n[[step.at_most]]\nmetric = \"task_errors\"\nvalue = 0\n");
  EXPECT_FALSE(missed_criteria(c.steps[0], attempt_at(1, kNotANumber)).empty());
  CourseAttempt attempt = attempt_at(1, 50);
  EXPECT_EQ(missed_criteria(c.steps[0], attempt),
            (std::vector<std::string>{"Errors: undefined; at most 0 is required."}));
  attempt.metrics["task_errors"] = kNotANumber;
  EXPECT_EQ(missed_criteria(c.steps[0], attempt),
            (std::vector<std::string>{"Errors: undefined; at most 0 is required."}));
  attempt.metrics["task_errors"] = 0.0;
  EXPECT_TRUE(missed_criteria(c.steps[0], attempt).empty());
}

TEST(CourseProgress, SaysWhatAnAttemptMissed) {
  const Curriculum c = curriculum_of(kOneStep + "[[step.at_least]]\nmetric = \"task_burnt\"\nvalue = 95\n");
  CourseAttempt attempt = attempt_at(1, 71.26);
  attempt.finished = false, attempt.critical_error = true;
  attempt.metrics["task_burnt"] = 40.0;
  EXPECT_EQ(missed_criteria(c.steps[0], attempt),
            (std::vector<std::string>{"The task was not finished.", "A critical error occurred.",
                                      "The score is 71.26; at least 80 is required.",
                                      "Burnt: 40; at least 95 is required."}));
  attempt.score = 79.9999;
  EXPECT_EQ(missed_criteria(c.steps[0], attempt)[2], "The score is 79.9999; at least 80 is required.");
}

TEST(CourseProgress, NeedsPassesInARowAndInAll) {
  const Curriculum c = curriculum_of(kOneStep);
  std::vector<CourseAttempt> attempts{attempt_at(1, 90), attempt_at(2, 70), attempt_at(3, 90)};
  EXPECT_EQ(only_step(c, attempts).state, StepState::Open);
  attempts.push_back(attempt_at(4, 80));
  StepProgress progress = only_step(c, attempts);
  EXPECT_EQ(progress.state, StepState::Passed);
  EXPECT_EQ(progress.passed_on, 4.0);
  EXPECT_EQ(progress.in_a_row, 2);
  EXPECT_EQ(progress.in_all, 3);
  EXPECT_EQ(progress.best, 90.0);
  // A later failure ends the run, but not the pass.
  attempts.push_back(attempt_at(5, 10));
  progress = only_step(c, attempts);
  EXPECT_EQ(progress.state, StepState::Passed);
  EXPECT_EQ(progress.passed_on, 4.0);
  EXPECT_EQ(progress.in_a_row, 0);
}

TEST(CourseProgress, ARefresherIsDueAfterTheLastPass) {
  const Curriculum c = curriculum_of(kOneStep + "refresher_days = 10\n");
  std::vector<CourseAttempt> attempts{attempt_at(0, 90), attempt_at(1, 90), attempt_at(2, 90)};
  const double due = 2 + 10 * kDaySeconds;
  EXPECT_EQ(only_step(c, attempts, due - 1).state, StepState::Passed);
  EXPECT_EQ(only_step(c, attempts, due).state, StepState::RefresherDue);
  EXPECT_EQ(only_step(c, attempts, kNotANumber).state, StepState::Passed);
  attempts.push_back(attempt_at(due, 90));
  EXPECT_EQ(only_step(c, attempts, due).state, StepState::Passed);
  EXPECT_EQ(only_step(c, attempts, due).due_on, due + 10 * kDaySeconds);
}

TEST(CourseProgress, AStepIsLockedUntilTheStepsThatItRequiresArePassed) {
  const Curriculum c = curriculum_of(
      "[[step]]\nname = \"a\"\nscene = \"a.toml\"\nrefresher_days = 1\n"
      "[[step]]\nname = \"b\"\nscene = \"b.toml\"\nrequires = [\"a\"]\n"
      "[[step]]\nname = \"c\"\nscene = \"c.toml\"\nrequires = [\"b\", \"a\"]\n");
  const auto states = [&](const std::vector<CourseAttempt>& attempts, double now) {
    std::vector<StepState> all;
    for (const StepProgress& step : course_progress(c, attempts, now)) all.push_back(step.state);
    return all;
  };
  EXPECT_EQ(states({}, 0), (std::vector{StepState::Open, StepState::Locked, StepState::Locked}));
  // The attempts at a locked step count once it is open.
  EXPECT_EQ(states({attempt_at(1, 9, "b")}, 0), (std::vector{StepState::Open, StepState::Locked, StepState::Locked}));
  EXPECT_EQ(states({attempt_at(1, 9, "b"), attempt_at(2, 9, "a")}, 3),
            (std::vector{StepState::Passed, StepState::Passed, StepState::Open}));
  // A refresher that is due locks nothing.
  EXPECT_EQ(states({attempt_at(1, 9, "b"), attempt_at(2, 9, "a")}, 3 + kDaySeconds),
            (std::vector{StepState::RefresherDue, StepState::Passed, StepState::Open}));
}

TEST(CourseProgress, AScoredAttemptCarriesItsMetricsAndItsCriticalError) {
  TaskLog log;
  log.error(1.0, "off the line");
  Attempt scored;
  scored.duration = 12.0, scored.overall = {{"collisions", "", "", 3.0, {}, {}}};
  scored.instruments = {{"left grasper", {{"path_length", "", "mm", 250.0, {}, {}}}}};
  EXPECT_TRUE(std::isnan(course_attempt(scored, "a", 1, 5.0).score));
  EXPECT_FALSE(course_attempt(scored, "a", 1, 5.0).finished);
  scored.task = TaskResult{"operation", "", true, 88.0, {{"task_time", "", "s", 12.0, {}, {}}}, log.events};
  const CourseAttempt attempt = course_attempt(scored, "a", 2, 5.0);
  EXPECT_EQ(attempt.level, 2);
  EXPECT_EQ(attempt.date, 5.0);
  EXPECT_EQ(attempt.score, 88.0);
  EXPECT_TRUE(attempt.finished);
  EXPECT_FALSE(attempt.critical_error);
  EXPECT_EQ(attempt.metrics,
            (std::map<std::string, double, std::less<>>{
                {"collisions", 3.0}, {"duration", 12.0}, {"left grasper.path_length", 250.0}, {"task_time", 12.0}}));
  log.critical(2.0, "a burn is too deep");
  scored.task->events = log.events;
  EXPECT_TRUE(course_attempt(scored, "a", 2, 5.0).critical_error);
}

// The definitions of docs/curriculum.md, word by word, without regard to cost.
struct SlowStep {
  std::vector<std::pair<double, bool>> attempts;  // date, pass
  std::optional<double> best, passed_on, last_pass;
  int in_a_row = 0, in_all = 0;
};

SlowStep slow_step(const CourseStep& step, const std::vector<CourseAttempt>& attempts) {
  SlowStep slow;
  for (const CourseAttempt& a : attempts) {
    if (scene_key(step.scene) != a.scene || step.level != a.level || !std::isfinite(a.date)) continue;
    if (a.metrics.contains("lost_share") && a.metrics.at("lost_share") > 3.0) continue;
    bool pass = a.finished && a.score >= step.pass.least_score && !(step.pass.no_critical_error && a.critical_error);
    for (const MetricLimit& limit : step.pass.limits) {
      const double value = a.metrics.contains(limit.metric) ? a.metrics.at(limit.metric) : kNotANumber;
      pass = pass && (limit.at_most ? value <= limit.value : value >= limit.value);
    }
    // Insertion before the first attempt that is later, or as late and a pass while this is not.
    auto at = slow.attempts.begin();
    while (at != slow.attempts.end() && (at->first < a.date || (at->first == a.date && (pass || !at->second)))) ++at;
    slow.attempts.insert(at, {a.date, pass});
    if (a.score == a.score && (!slow.best || a.score > *slow.best)) slow.best = a.score;
  }
  const auto passes_in = [&](std::size_t from, std::size_t to) {
    int passes = 0;
    for (std::size_t k = from; k < to; ++k) passes += slow.attempts[k].second ? 1 : 0;
    return passes;
  };
  const std::size_t count = slow.attempts.size();
  for (std::size_t end = 1; end <= count && !slow.passed_on; ++end) {
    bool row = false;
    for (std::size_t from = 0; from < end; ++from)
      for (std::size_t to = from + 1; to <= end; ++to)
        row = row || (passes_in(from, to) == int(to - from) && int(to - from) >= step.in_a_row);
    if (row && passes_in(0, end) >= step.in_all) slow.passed_on = slow.attempts[end - 1].first;
  }
  slow.in_all = passes_in(0, count);
  for (std::size_t from = 0; from < count; ++from)
    if (passes_in(from, count) == int(count - from)) slow.in_a_row = std::max(slow.in_a_row, int(count - from));
  for (const auto& [date, pass] : slow.attempts)
    if (pass) slow.last_pass = date;
  return slow;
}

struct RandomCourse {
  std::mt19937 random;
  int below(int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }

  Curriculum curriculum() {
    Curriculum c;
    const int steps = 1 + below(5);
    for (int k = 0; k < steps; ++k) {
      CourseStep step;
      step.scene = std::string(1, static_cast<char>('a' + below(3))) + ".toml", step.level = 1 + below(2);
      step.pass.least_score = 10.0 * below(8), step.pass.no_critical_error = below(2) == 0;
      if (below(2) == 0) step.pass.limits.push_back({"task_errors", double(below(3)), below(2) == 0});
      step.in_a_row = 1 + below(3), step.in_all = step.in_a_row + below(4), step.refresher_days = below(2) * below(30);
      for (int earlier = 0; earlier < k; ++earlier)
        if (below(3) == 0) step.after.push_back(static_cast<std::size_t>(earlier));
      c.steps.push_back(step);
    }
    return c;
  }

  CourseAttempt attempt() {
    CourseAttempt a = attempt_at(kDaySeconds * below(20), 10.0 * below(11),
                                 std::string(1, static_cast<char>('a' + below(4))), 1 + below(2));
    if (below(20) == 0) a.date = kNotANumber;
    if (below(20) == 0) a.score = kNotANumber;
    a.finished = below(10) > 0, a.critical_error = below(10) == 0;
    if (below(10) > 0) a.metrics["task_errors"] = below(15) == 0 ? kNotANumber : double(below(3));
    if (below(2) == 0) a.metrics["lost_share"] = double(below(5));
    return a;
  }
};

void expect_same(const Curriculum& c, const std::vector<CourseAttempt>& attempts, double now) {
  const std::vector<StepProgress> progress = course_progress(c, attempts, now);
  ASSERT_EQ(progress.size(), c.steps.size());
  std::vector<bool> passed;
  for (std::size_t k = 0; k < c.steps.size(); ++k) {
    const SlowStep slow = slow_step(c.steps[k], attempts);
    bool locked = false;
    for (const std::size_t earlier : c.steps[k].after) locked = locked || !passed[earlier];
    passed.push_back(!locked && slow.passed_on);
    const double days = c.steps[k].refresher_days;
    const bool due = passed[k] && days > 0.0 && now >= *slow.last_pass + days * kDaySeconds;
    EXPECT_EQ(progress[k].state, locked      ? StepState::Locked
                                 : due       ? StepState::RefresherDue
                                 : passed[k] ? StepState::Passed
                                             : StepState::Open);
    EXPECT_EQ(progress[k].attempts, int(slow.attempts.size()));
    EXPECT_EQ(progress[k].in_a_row, slow.in_a_row);
    EXPECT_EQ(progress[k].in_all, slow.in_all);
    EXPECT_EQ(progress[k].best, slow.best);
    EXPECT_EQ(progress[k].passed_on, slow.passed_on);
  }
}

TEST(CourseProgress, AgreesWithTheDefinitionsWordByWord) {
  const unsigned seed = 20261126;
  RandomCourse make{std::mt19937(seed)};
  int passed = 0, due = 0;
  for (int round = 0; round < 3000 && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const Curriculum c = make.curriculum();
    std::vector<CourseAttempt> attempts(static_cast<std::size_t>(make.below(25)));
    for (CourseAttempt& attempt : attempts) attempt = make.attempt();
    const double now = kDaySeconds * make.below(60);
    expect_same(c, attempts, now);
    for (const StepProgress& step : course_progress(c, attempts, now))
      passed += step.passed_on ? 1 : 0, due += step.state == StepState::RefresherDue ? 1 : 0;
    // The order in the list has no effect.
    std::shuffle(attempts.begin(), attempts.end(), make.random);
    expect_same(c, attempts, now);
  }
  EXPECT_GT(passed, 300);
  EXPECT_GT(due, 50);
}

// Tests thresholds from experts against values computed by hand: the distribution, what is trimmed, the rule of each
// metric, and the sentences for attempts that give no thresholds.

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

// Tests the reader of curricula: what it returns, what it refuses with which sentence, and that the ids of metrics are
// those of the documents. The curricula of the product load, with their scenes and levels.

const std::string kTwoSteps = R"(
title = "Two steps"
sources = ["a book", "a paper"]
[[step]]
name = "touch"
scene = "touch.toml"
least_score = 80
[[step.at_most]]
metric = "task_errors"
value = 1
[[step]]
name = "touch, harder"
title = "Touch small targets"
scene = "touch.toml"
level = 2
least_score = 85
no_critical_error = false
in_a_row = 2
in_all = 12
refresher_days = 180
requires = ["touch"]
[[step.at_least]]
metric = "probe.sparc"
value = -3
)";

TEST(Curriculum, HasWhatTheFileSays) {
  const Curriculum c = parse_curriculum(kTwoSteps, "folder/two.toml");
  EXPECT_EQ(c.title, "Two steps");
  EXPECT_EQ(c.sources, (std::vector<std::string>{"a book", "a paper"}));
  ASSERT_EQ(c.steps.size(), 2u);
  EXPECT_EQ(c.steps[0].title, "touch");
  EXPECT_EQ(c.steps[0].scene, "folder/touch.toml");
  EXPECT_EQ(c.steps[0].level, 1);
  EXPECT_EQ(c.steps[0].in_a_row, 1);
  EXPECT_EQ(c.steps[0].in_all, 1);
  EXPECT_EQ(c.steps[0].refresher_days, 0.0);
  EXPECT_TRUE(c.steps[0].pass.no_critical_error);
  ASSERT_EQ(c.steps[0].pass.limits.size(), 1u);
  EXPECT_TRUE(c.steps[0].pass.limits[0].at_most);
  const CourseStep& harder = c.steps[1];
  EXPECT_EQ(harder.title, "Touch small targets");
  EXPECT_EQ(harder.level, 2);
  EXPECT_EQ(harder.pass.least_score, 85.0);
  EXPECT_FALSE(harder.pass.no_critical_error);
  EXPECT_EQ(harder.in_a_row, 2);
  EXPECT_EQ(harder.in_all, 12);
  EXPECT_EQ(harder.refresher_days, 180.0);
  EXPECT_EQ(harder.after, (std::vector<std::size_t>{0}));
  ASSERT_EQ(harder.pass.limits.size(), 1u);
  EXPECT_EQ(harder.pass.limits[0].metric, "probe.sparc");
  EXPECT_EQ(harder.pass.limits[0].value, -3.0);
  EXPECT_FALSE(harder.pass.limits[0].at_most);
}

void expect_refused_curriculum(const std::string& text, int line, const std::string& part) {
  try {
    parse_curriculum(text, "c.toml");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("c.toml:" + (line > 0 ? std::to_string(line) + ":" : ""))) << what;
    EXPECT_NE(what.find(part), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
}

TEST(Curriculum, NamesFileLineAndRemedyOfAFault) {
  const std::string top = "title = \"t\"\n", step = top + "[[step]]\nname = \"a\"\nscene = \"a.toml\"\n";
  expect_refused_curriculum("", 0, "title: is missing");
  expect_refused_curriculum(top, 0, "a curriculum needs at least one [[step]]");
  expect_refused_curriculum("schema = 2\n" + step, 1, "use a later version");
  expect_refused_curriculum("title = \"\"\n", 1, "1 to 200 printable characters");
  expect_refused_curriculum("sources = [3]\n" + step, 1, "text in quotes");
  expect_refused_curriculum(top + "[[step]]\nscene = \"a.toml\"\n", 2, "name: is missing");
  expect_refused_curriculum(top + "[[step]]\nname = \"a\"\n", 2, "scene: is missing");
  expect_refused_curriculum(step + "level = 0\n", 5, "limits 1 to 100");
  expect_refused_curriculum(step + "level = 1.5\n", 5, "whole number");
  expect_refused_curriculum(step + "least_score = 101\n", 5, "limits 0 to 100");
  expect_refused_curriculum(step + "in_a_row = 3\nin_all = 2\n", 6, "at least in_a_row = 3");
  expect_refused_curriculum(step + "refresher_days = -1\n", 5, "limits");
  expect_refused_curriculum(step + "requires = [\"a\"]\n", 5, "only steps above it");
  expect_refused_curriculum(step + "lest_score = 5\n", 5, "least_score");
  expect_refused_curriculum(step + "[[step]]\nname = \"a\"\nscene = \"a.toml\"\n", 6, "two steps have the name 'a'");
  expect_refused_curriculum(step + "[[step]]\nname = \"b\"\nscene = \"b/a.toml\"\n", 7, "same file name");
  expect_refused_curriculum(step + "[[step]]\nname = \"b\"\nscene = \"a.toml\"\nrequires = [\"a\", \"a\"]\n", 8,
                            "twice");
  expect_refused_curriculum(step + "[[step.at_most]]\nmetric = \"task_erors\"\nvalue = 0\n", 6,
                            "not the id of a metric");
  expect_refused_curriculum(step + "[[step.at_most]]\nmetric = \"probe.task_time\"\nvalue = 0\n", 6,
                            "write task_time alone");
  expect_refused_curriculum(step + "[[step.at_most]]\nmetric = \"task_time\"\n", 5, "value: is missing");
  expect_refused_curriculum(step + "[[step.at_most]]\nmetric = \"task_time\"\nvalue = inf\n", 7, "finite");
}

TEST(Curriculum, ChecksItsScenes) {
  const TemporaryFolder folder;
  const auto scene = repository_file("data/scenes/tasks/touch_targets.toml").string();
  const auto load = [&](const std::string& step) {
    load_curriculum(folder.write("c.toml", "title = \"t\"\n[[step]]\nname = \"a\"\n" + step));
  };
  const auto sentence_of = [&](const std::string& step) -> std::string {
    try {
      load(step);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NO_THROW(load("scene = \"" + scene + "\"\n"));
  EXPECT_NE(sentence_of("scene = \"b.toml\"\n").find("c.toml:4: step.scene: there is no file b.toml"),
            std::string::npos)
      << sentence_of("scene = \"b.toml\"\n");
  EXPECT_NE(
      sentence_of("scene = \"" + scene + "\"\nlevel = 100\n").find("c.toml:5: step.level: the scene has no level 100"),
      std::string::npos);
  EXPECT_NE(
      sentence_of("scene = \"" + repository_file("data/scenes/tour.toml").string() + "\"\n").find("has no [task]"),
      std::string::npos);
  const std::string limit = "[[step.at_most]]\nvalue = 1\nmetric = ";
  EXPECT_EQ(sentence_of("scene = \"" + scene + "\"\n" + limit + "\"probe.path_length\"\n"), "accepted");
  EXPECT_NE(
      sentence_of("scene = \"" + scene + "\"\n" + limit + "\"drill.path_length\"\n").find("no instrument 'drill'"),
      std::string::npos);
}

TEST(Curriculum, ThoseOfTheProductLoadAndNameTheirSources) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("data/curricula"))) {
    const Curriculum c = load_curriculum(entry.path());
    EXPECT_FALSE(c.sources.empty()) << entry.path();
    ++found;
  }
  EXPECT_GE(found, 1);
}

std::set<std::string> ids_in(const std::string& document, const std::string& pattern) {
  const std::string text = read_file(repository_file(document));
  const std::regex expression(pattern);
  std::set<std::string> ids;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) ids.insert((*at)[1]);
  return ids;
}

template <typename Ids>
std::set<std::string> as_set(const Ids& ids) {
  return {ids.begin(), ids.end()};
}

TEST(Curriculum, KnowsTheMetricsOfTheDocuments) {
  EXPECT_EQ(as_set(task_metric_ids()), ids_in("docs/tasks.md", "\n\\| `(task_[a-z_]+)` \\|"));
  // A row of the tables may name two metrics.
  std::set<std::string> listed = ids_in("docs/metrics.md", "\n\\| `([a-z_]+)`(?:, `[a-z_]+`)? \\| ?[a-z]");
  listed.merge(ids_in("docs/metrics.md", "\n\\| `[a-z_]+`, `([a-z_]+)` \\| ?[a-z]"));
  listed.insert("duration");
  listed.erase("task_errors");
  EXPECT_EQ(as_set(session_metric_ids()), listed);
}

// Tests that the fit recovers the curve of practice from data that follow it and is the best there is, and that
// attempts are ordered.

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> curve_of(double limit, double gain, double rate, int attempts) {
  std::vector<double> values;
  for (int n = 1; n <= attempts; ++n) values.push_back(limit + gain * std::pow(n, -rate));
  return values;
}

// Falling and rising, towards limits of any sign.
TEST(LearningCurve, RecoversTheCurve) {
  for (const double limit : {40.0, 0.0, -60.0})
    for (const double gain : {50.0, -30.0})
      for (const double rate : {0.2, 0.35, 1.0, 2.0}) {
        std::vector<double> values = curve_of(limit, gain, rate, 14);
        values[4] = kNan;
        const auto fit = fit_practice(values);
        ASSERT_TRUE(fit);
        EXPECT_NEAR(fit->limit, limit, 1e-3) << limit << " " << gain << " " << rate;
        EXPECT_NEAR(fit->gain, gain, 1e-3);
        EXPECT_NEAR(fit->rate, rate, 1e-4);
        EXPECT_NEAR(fit->explained, 1.0, 1e-9);
        EXPECT_NEAR(fit->at(8.0), limit + gain * std::pow(8.0, -rate), 1e-5);
      }
}

// No other limit, gain and rate of a fine grid leaves smaller squares.
TEST(LearningCurve, IsTheBestOfAGrid) {
  std::mt19937 random(61);
  std::printf("seed 61\n");
  std::normal_distribution<double> noise(0.0, 2.0);
  for (int round = 0; round < 5; ++round) {
    std::vector<double> values = curve_of(-3.0, 12.0, 0.6, 10);
    for (double& value : values) value += noise(random);
    const auto squares = [&](double limit, double gain, double rate) {
      double sum = 0.0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double off = values[k] - limit - gain * std::pow(static_cast<double>(k + 1), -rate);
        sum += off * off;
      }
      return sum;
    };
    const auto fit = fit_practice(values);
    ASSERT_TRUE(fit);
    const double least = squares(fit->limit, fit->gain, fit->rate);
    for (double rate = 0.05; rate < 5.0; rate *= 1.1)
      for (double limit = -30.0; limit < 30.0; limit += 1.0)
        for (double gain = -40.0; gain < 40.0; gain += 1.0) ASSERT_GE(squares(limit, gain, rate), least - 1e-9);
  }
}

// Counts of errors reach zero, and a smoothness is negative: all values count.
TEST(LearningCurve, ZerosAndNegativeValuesCount) {
  const auto errors = fit_practice(std::vector{6.0, 3.0, 1.0, 0.0, 0.0, 0.0});
  ASSERT_TRUE(errors);
  EXPECT_GE(errors->limit, 0.0);
  EXPECT_LT(errors->at(6.0), 1.2);
  const auto smoothness = fit_practice(std::vector{-9.0, -7.5, -7.0, -6.8, -6.6});
  ASSERT_TRUE(smoothness);
  EXPECT_LT(smoothness->limit, -5.0);
  EXPECT_LT(smoothness->gain, 0.0);
  EXPECT_GT(smoothness->explained, 0.98);
}

TEST(LearningCurve, FewValuesByHand) {
  // 1, 1/2, 1/4 of the gain: 2 + 4 / n.
  const auto fit = fit_practice(std::vector{6.0, 4.0, kNan, 3.0});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->rate, 1.0);
  EXPECT_NEAR(fit->limit, 2.0, 1e-12);
  EXPECT_NEAR(fit->gain, 4.0, 1e-12);
  const auto constant = fit_practice(std::vector{3.0, 3.0, 3.0});
  EXPECT_NEAR(constant->gain, 0.0, 1e-12);
  EXPECT_EQ(constant->explained, 1.0);
  EXPECT_NEAR(fit_practice(std::vector{8.0, 2.0, 8.0, 2.0, 8.0, 2.0, 8.0})->explained, 0.0, 0.2);
  EXPECT_FALSE(fit_practice(std::vector{3.0, kNan, 1.0}));
  EXPECT_FALSE(fit_practice({}));
}

TEST(LearningCurve, AttemptsByDate) {
  std::vector<Attempt> attempts(3);
  attempts[0].date = "2026-03-01";
  attempts[1].date = "2026-02-01";
  attempts[2].date = "2026-03-01";
  for (std::size_t k = 0; k < 3; ++k) {
    attempts[k].file = std::string(1, static_cast<char>('a' + k));
    attempts[k].overall = {{"duration", "Time", "s", 10.0 * static_cast<double>(k + 1), {}, {}, ""}};
    attempts[k].instruments = {{"probe", {{"path_length", "Path length", "mm", 100.0, {}, {}, ""}}}};
  }
  attempts[2].instruments.push_back({"hook", {{"path_length", "Path length", "mm", 5.0, {}, {}, ""}}});
  attempts[0].task = TaskResult{"touch", "Touch", true, 80.0, {}, {}};
  const LearningCurve curve = learning_curve(attempts);
  EXPECT_EQ(curve.files, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(curve.order, (std::vector<std::size_t>{1, 0, 2}));
  ASSERT_EQ(curve.curves.size(), 4u);
  EXPECT_EQ(curve.curves[0].id, "task_score");
  EXPECT_TRUE(std::isnan(curve.curves[0].values[0]));
  EXPECT_EQ(curve.curves[0].values[1], 80.0);
  EXPECT_EQ(curve.curves[1].values, (std::vector<double>{20.0, 10.0, 30.0}));
  EXPECT_TRUE(curve.curves[1].fit);
  EXPECT_EQ(curve.curves[2].instrument, "probe");
  EXPECT_EQ(curve.curves[3].instrument, "hook");
  EXPECT_TRUE(std::isnan(curve.curves[3].values[0]));
  EXPECT_TRUE(learning_curve({}).curves.empty());
}

}  // namespace
}  // namespace trocar
