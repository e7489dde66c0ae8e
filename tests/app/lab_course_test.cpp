// Tests progress in a curriculum from the attempts of the database: they count as the scores of the recordings would,
// and the next step says what the latest attempt missed.
#include "app/lab/lab_course.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/support/files.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
