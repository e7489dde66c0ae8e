// Tests the desk of a station: who is logged in, a first login, progress from the database and from what waits here,
// and a database that does not answer.
#include "app/lab/lab_desk.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

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
