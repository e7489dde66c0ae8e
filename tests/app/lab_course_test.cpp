// Tests progress in a curriculum, thresholds from experts, and the desk where a person logs in.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "app/lab/lab_course.hpp"
#include "app/lab/lab_desk.hpp"
#include "app/lab/lab_station.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/files.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// Tests progress in a curriculum from the attempts of the database: they count as the scores of the recordings would,
// and the next step says what the latest attempt missed.

constexpr const char* kTwoSteps =
    "schema = 1\ntitle = \"T\"\nsources = [\"s\"]\n"
    "[[step]]\nname = \"a\"\ntitle = \"First\"\nscene = \"x.toml\"\nleast_score = 80\nin_a_row = 2\n"
    "[[step.at_most]]\nmetric = \"task_errors\"\nvalue = 1\n"
    "[[step]]\nname = \"b\"\ntitle = \"Second\"\nscene = \"x.toml\"\nlevel = 2\nleast_score = 80\nrequires = [\"a\"]\n";

LabAttempt step_attempt(double date, double score, double errors, int level = 1) {
  LabAttempt a;
  a.scene = "x", a.level = level, a.started = date, a.score = score, a.ending = "done";
  a.metrics = {{"task.task_errors", errors}, {"whole.peak_force", 2.0}, {"probe.peak_force", 1.0}};
  return a;
}

TEST(LabCourse, MetricsHaveTheNamesOfACurriculum) {
  const CourseAttempt course = course_attempt(step_attempt(5.0, 90.0, 0.0, 2));
  EXPECT_EQ(course.metrics.at("task_errors"), 0.0);
  EXPECT_EQ(course.metrics.at("peak_force"), 2.0);
  EXPECT_EQ(course.metrics.at("probe.peak_force"), 1.0);
  EXPECT_EQ(course.level, 2);
  EXPECT_TRUE(course.finished);
  LabAttempt none;
  none.ending = "not done";
  EXPECT_TRUE(std::isnan(course_attempt(none).score));
  EXPECT_FALSE(course_attempt(none).finished);
}

TEST(LabCourse, AStepIsPassedTwiceInARowAndThenTheNextOneOpens) {
  const Curriculum curriculum = parse_curriculum(kTwoSteps, "c.toml");
  std::vector<LabAttempt> attempts;
  CourseView view = course_view(curriculum, attempts, 100.0);
  EXPECT_EQ(view.next, 0u);
  EXPECT_EQ(view.progress[1].state, StepState::Locked);
  attempts = {step_attempt(1, 90, 0), step_attempt(2, 90, 3)};
  view = course_view(curriculum, attempts, 100.0);
  EXPECT_EQ(view.progress[0].in_a_row, 0);
  ASSERT_EQ(view.latest_missed.size(), 1u);
  attempts.push_back(step_attempt(3, 85, 1)), attempts.push_back(step_attempt(4, 85, 1));
  view = course_view(curriculum, attempts, 100.0);
  EXPECT_EQ(view.progress[0].state, StepState::Passed);
  EXPECT_EQ(view.next, 1u);
  attempts.push_back(step_attempt(5, 79.9, 0, 2));
  const std::string table = course_table(course_view(curriculum, attempts, 100.0));
  EXPECT_NE(table.find("First   passed  2 of 2 in a row"), std::string::npos) << table;
  EXPECT_NE(table.find("next: Second\n  The score is 79.9; at least 80 is required.\n"), std::string::npos) << table;
  attempts.push_back(step_attempt(6, 80, 0, 2));
  EXPECT_NE(course_table(course_view(curriculum, attempts, 100.0)).find("all steps are passed"), std::string::npos);
}

// Counted by hand: the third attempt is the second pass in a row.
TEST(LabCourse, AnAttemptsOutcomeSaysWhatItMissedAndWhatItOpens) {
  const Curriculum curriculum = parse_curriculum(kTwoSteps, "c.toml");
  std::vector<LabAttempt> attempts = {step_attempt(1, 90, 2), step_attempt(2, 90, 0), step_attempt(3, 90, 0)};
  for (std::size_t k = 0; k < attempts.size(); ++k) attempts[k].key = std::to_string(k);
  const auto first = step_outcome(curriculum, {}, attempts[0], 100.0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step, 0u);
  EXPECT_EQ(first->missed, std::vector<std::string>{"Errors is 2; at most 1 is required."});
  EXPECT_FALSE(first->completed);
  EXPECT_TRUE(first->unlocked.empty());
  const auto second = step_outcome(curriculum, {attempts[0]}, attempts[1], 100.0);
  EXPECT_TRUE(second->missed.empty());
  EXPECT_FALSE(second->completed);
  EXPECT_EQ(second->after.progress[0].in_a_row, 1);
  const auto third = step_outcome(curriculum, attempts, attempts[2], 100.0);  // among the others, too
  EXPECT_TRUE(third->completed);
  EXPECT_EQ(third->unlocked, std::vector<std::size_t>{1});
  EXPECT_EQ(third->after.next, 1u);
  EXPECT_EQ(steps_passed(third->after), 1u);
}

TEST(LabCourse, AnAttemptOfNoStepHasNoOutcome) {
  const Curriculum curriculum = parse_curriculum(kTwoSteps, "c.toml");
  EXPECT_FALSE(step_outcome(curriculum, {}, step_attempt(1, 90, 0, 3), 100.0));
  EXPECT_FALSE(step_outcome({}, {}, step_attempt(1, 90, 0), 100.0));
}

TEST(LabCourse, ARefresherThatIsDueIsDoneWithOnePass) {
  const Curriculum curriculum = parse_curriculum(
      "title = \"T\"\n[[step]]\nname = \"a\"\nscene = \"x.toml\"\nrefresher_days = 1\nin_a_row = 2\n", "c.toml");
  std::vector<LabAttempt> attempts = {step_attempt(1, 90, 0), step_attempt(2, 90, 0), step_attempt(2e5, 90, 0)};
  for (std::size_t k = 0; k < attempts.size(); ++k) attempts[k].key = std::to_string(k);
  const auto outcome = step_outcome(curriculum, {attempts[0], attempts[1]}, attempts[2], 2.1e5);
  EXPECT_TRUE(outcome->refreshed);
  EXPECT_FALSE(outcome->completed);
}

TEST(LabCourse, CriteriaAndLocksAreSentences) {
  const CourseView view = course_view(parse_curriculum(kTwoSteps, "c.toml"), {}, 100.0);
  EXPECT_EQ(criteria_text(view.curriculum.steps[0]), "at least 80 points, errors at most 1, no critical error");
  EXPECT_EQ(needs_text(view, 1), "First, level 1");
  EXPECT_EQ(needs_text(view, 0), "");
  EXPECT_EQ(passes_text(view.curriculum.steps[0], view.progress[0]), "0 of 2 in a row");
}

TEST(LabCourse, TheReadyMadeCurriculumIsShownForANewPerson) {
  const CourseView view = course_view(load_curriculum(data_file("curricula/basic.toml")), {}, 1.8e9);
  EXPECT_EQ(view.next, 0u);
  EXPECT_TRUE(view.latest_missed.empty());
}

// Tests trocar lab thresholds: from recordings and from people in the database; the printed TOML is read back as a
// curriculum and as a scene's task.

class LabThresholdsProgram : public LabUser {
 protected:
  Outcome thresholds(const std::string& arguments) { return lab("thresholds " + arguments); }
  void keep(const std::string& person, double started, double score, const std::string& ending = "done") const {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "burn_line", attempt.title = "Burn", attempt.started = started;
    attempt.score = score, attempt.ending = ending;
    attempt.metrics = {{"task.task_time", 10.0 + started}, {"task.task_peak_force", 1.0}, {"whole.peak_force", 9.0}};
    LabStation({at("data") + "/trocar/lab.sqlite", at("data") + "/trocar/waiting", at("config") + "/trocar/lab.toml"})
        .keep(attempt);
  }
};

TEST_F(LabThresholdsProgram, OfPeopleInTheDatabase) {
  expect_sentence("thresholds", "needs either recordings of experts");
  expect_sentence("thresholds --person zoe", "needs either recordings of experts");
  expect_sentence("thresholds --person zoe --task burn_line", "no person has the id 'zoe'");
  for (int k = 1; k <= 3; ++k) keep("zoe", k, 90.0 + k), keep("li", k, 96.0);
  keep("li", 4, 20.0, "not done");
  expect_sentence("thresholds --person zoe --task burn_line --level 2", "have no attempt at burn_line, level 2");
  expect_sentence("thresholds x.h5 --person zoe", "not both");
  expect_sentence("thresholds --person zoe --task burn_line --last 1", "1 of 1 attempts is finished");
  const Outcome both = thresholds("--person zoe li --task burn_line");
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.out.find("# burn_line, level 1: 6 attempts of 2 people; 1 not finished"), std::string::npos)
      << both.out;
  EXPECT_NE(both.out.find("least_score = 94\n"), std::string::npos) << both.out;  // (91 + 92 + 93 + 3 * 96) / 6
  const Curriculum course = parse_curriculum("title = \"T\"\n" + both.out.substr(0, both.out.find("# Keys")), "c.toml");
  ASSERT_EQ(course.steps.size(), 1u);
  EXPECT_EQ(course.steps[0].pass.least_score, 94.0);
  ASSERT_EQ(course.steps[0].pass.limits.size(), 2u);
  EXPECT_EQ(course.steps[0].pass.limits[0].metric, "task_time");
  EXPECT_EQ(course.steps[0].pass.limits[0].value, 12.0);
  const Outcome median = thresholds("--person zoe --task burn_line --rule median");
  EXPECT_NE(median.out.find("least_score = 92\n"), std::string::npos) << median.out;
}

TEST_F(LabThresholdsProgram, OfRecordingsAndTheirTomlIsAWholeFile) {
  const Outcome made = run("perform " + data("scenes/tasks/navigate_camera.toml") +
                           " --as expert --backend scan --seed 1 -o " + at("s1.h5"));
  ASSERT_EQ(made.status, 0) << made.err;
  std::filesystem::copy_file(at("s1.h5"), at("s2.h5"));
  const Outcome found = thresholds(at("s1.h5") + " " + at("s2.h5"));
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_NE(found.out.find("2 of these attempts are by a scripted trainee"), std::string::npos) << found.out;
  // The scope touches nothing: no force is allowed to a pass, and the scene's key, which must be positive, is left out.
  EXPECT_NE(found.out.find("metric = \"task_peak_force\"\nvalue = 0\n"), std::string::npos) << found.out;
  TomlTable whole = TomlTable::parse("t.toml", found.out);
  EXPECT_EQ(whole.tables("step").size(), 1u);
  EXPECT_NE(found.out.find("[task]\ntime_good_s = "), std::string::npos) << found.out;
  EXPECT_EQ(found.out.find("most_force_n"), std::string::npos) << found.out;
  expect_sentence("thresholds " + at("s1.h5"), "1 of 1 attempts is finished");
  expect_sentence("thresholds " + mesh_, "m.obj");
}

// Tests the desk of a station: who is logged in, a first login, progress from the database and from what waits here,
// and a database that does not answer.

constexpr const char* kOneStep = "title = \"T\"\n[[step]]\nname = \"a\"\nscene = \"x.toml\"\nin_a_row = 2\n";

class LabDeskTest : public ::testing::Test {
 protected:
  LabStation station(const std::string& database = {}) const {
    return LabStation({folder_.path() / "lab.sqlite", folder_.path() / "waiting", folder_.path() / "lab.toml"},
                      database);
  }
  static LabAttempt pass(const std::string& person, double started) {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "x", attempt.started = started, attempt.score = 90.0;
    attempt.ending = "done";
    return attempt;
  }
  static void wait(LabDesk& desk) {
    while (desk.asking()) {
      desk.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  TemporaryFolder folder_;
};

TEST_F(LabDeskTest, WithoutAPersonThereIsNoProgress) {
  const LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.step();
  EXPECT_FALSE(desk.view());
  desk.log_in("", false);
  wait(desk);
  EXPECT_FALSE(desk.view());
  EXPECT_TRUE(desk.people().empty());
  EXPECT_EQ(desk.why(), "");
}

TEST_F(LabDeskTest, TheFirstLoginAddsThePersonAndTypingDoesNot) {
  const LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zo", false);
  wait(desk);
  ASSERT_TRUE(desk.view());
  EXPECT_FALSE(desk.known());
  EXPECT_TRUE(station.open_to_read().people().empty());
  desk.log_in("zoe", true);
  EXPECT_FALSE(desk.view());
  wait(desk);
  EXPECT_TRUE(desk.known());
  EXPECT_EQ(desk.people(), std::vector<std::string>{"zoe"});
  EXPECT_TRUE(station.open_to_read().person("zoe"));
}

TEST_F(LabDeskTest, TheLastOneWhoLogsInCounts) {
  const LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zoe", false);
  desk.log_in("li", true);  // before the answer for zoe
  wait(desk);
  EXPECT_EQ(desk.person(), "li");
  EXPECT_TRUE(desk.known());
  EXPECT_TRUE(station.open_to_read().person("li"));
  EXPECT_FALSE(station.open_to_read().person("zoe"));
}

TEST_F(LabDeskTest, ProgressCountsTheDatabaseAndWhatWaitsOnce) {
  const LabStation station = this->station();
  const LabAttempt entered = pass("zoe", 1.0);
  station.open_to_write().add_attempt(entered);
  station.keep(entered);  // not removed yet
  station.keep(pass("li", 1.0));
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zoe", false);
  wait(desk);
  ASSERT_TRUE(desk.view());
  EXPECT_EQ(desk.view()->progress[0].in_a_row, 1);
  station.keep(pass("zoe", 2.0));
  desk.refresh();
  wait(desk);
  EXPECT_EQ(desk.view()->progress[0].state, StepState::Passed);
}

TEST_F(LabDeskTest, ADatabaseThatDoesNotAnswerTakesNothingAway) {
  station().open_to_write().add_attempt(pass("zoe", 1.0));
  LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zoe", false);
  wait(desk);
  station = this->station("postgresql://user@127.0.0.1:1/none");
  station.keep(pass("zoe", 2.0));
  desk.refresh();
  wait(desk);
  EXPECT_NE(desk.why(), "");
  EXPECT_EQ(desk.view()->progress[0].state, StepState::Passed);
  LabDesk fresh(station, parse_curriculum(kOneStep, "c.toml"));
  fresh.log_in("zoe", true);
  wait(fresh);
  EXPECT_EQ(fresh.view()->progress[0].in_a_row, 1);  // only what waits here is known
}

}  // namespace
}  // namespace trocar
