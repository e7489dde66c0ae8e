// Tests trocar lab as a user runs it, in folders of the test's own.
#include "app/lab/lab_station.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

class LabProgram : public Program {
 protected:
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  Outcome lab(const std::string& arguments) {
    return run("lab " + arguments, "XDG_DATA_HOME=" + at("data") + " XDG_CONFIG_HOME=" + at("config"));
  }
  void expect_sentence(const std::string& arguments, const std::string& part, int status = 2) {
    const Outcome outcome = lab(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  LabPlaces places() const {
    return {at("data") + "/trocar/lab.sqlite", at("data") + "/trocar/waiting", at("config") + "/trocar/lab.toml"};
  }
  void keep(const std::string& person, double started, double score) const {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "burn_line", attempt.title = "Burn", attempt.started = started;
    attempt.score = score, attempt.ending = "done", attempt.metrics = {{"task.task_time", started}};
    LabStation(places()).keep(attempt);
  }
};

TEST_F(LabProgram, PeopleAreAddedListedComparedAndErased) {
  EXPECT_EQ(lab("add zoe --name 'Zoë M'").status, 0);
  expect_sentence("add zoe", "the id 'zoe' is taken");
  expect_sentence("add ' x'", "must not begin or end with a space");
  for (int k = 1; k <= 3; ++k) keep("zoe", k, 20.0 * k), keep("li", k, 30.0 * k);
  const Outcome list = lab("list --recent");
  EXPECT_NE(list.out.find("6 attempts that waited"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("zoe  Zoë M  3         1      1970-01-01 00:00"), std::string::npos) << list.out;
  const Outcome show = lab("show zoe");
  EXPECT_NE(show.out.find("burn_line  1      3         60    60"), std::string::npos) << show.out;
  expect_sentence("show none", "no person has the id 'none'");
  const Outcome compared = lab("compare zoe li --task burn_line");
  EXPECT_NE(compared.out.find("2        40   60"), std::string::npos) << compared.out;
  EXPECT_EQ(lab("export -o " + at("all.csv")).status, 0);
  const std::string table = read_file(at("all.csv"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7);
  expect_sentence("export -o " + at("all.csv"), "--force");
  EXPECT_NE(lab("").out.find("attempts  6"), std::string::npos);
  EXPECT_EQ(lab("backup -o " + at("b.sqlite")).status, 0);
  expect_sentence("backup -o " + at("b.sqlite"), "exists");
  EXPECT_EQ(lab("erase zoe").status, 0);
  EXPECT_NE(lab("").out.find("attempts  3"), std::string::npos);
  EXPECT_EQ(lab("restore " + at("b.sqlite")).status, 0);
  EXPECT_NE(lab("").out.find("attempts  6"), std::string::npos);
}

TEST_F(LabProgram, AStationKeepsItsDatabase) {
  EXPECT_EQ(lab("--database " + at("shared.sqlite")).status, 0);
  EXPECT_EQ(lab("add a").status, 0);
  EXPECT_TRUE(std::filesystem::exists(at("shared.sqlite")));
  EXPECT_FALSE(std::filesystem::exists(places().database));
  expect_sentence("--database mysql://h/d", "is not the address of a database");
  expect_sentence("--database " + mesh_, "is not a database of Trocar");
  expect_sentence("--database postgresql://u:secret@127.0.0.1:1/x list", "does not answer", 1);
  EXPECT_EQ(lab("--database postgresql://u:secret@127.0.0.1:1/x list").err.find("secret"), std::string::npos);
}

TEST_F(LabProgram, OnlyAttemptsAreEntered) {
  expect_sentence("enter " + mesh_, "m.obj");
  const Outcome made = run("record " + data("scenes/liver_and_stomach.toml") + " --trajectory " +
                           file("t.csv", kTrajectory) + " --backend scan --person zoe -o " + at("s.h5"));
  ASSERT_EQ(made.status, 0) << made.err;
  expect_sentence("enter " + at("s.h5"), "is a replay; only attempts with live devices count");
}

}  // namespace
}  // namespace trocar
