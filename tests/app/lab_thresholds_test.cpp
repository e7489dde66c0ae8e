// Tests trocar lab thresholds: from recordings and from people in the database; the printed TOML is read back as a
// curriculum and as a scene's task.
#include "app/lab/lab_course.hpp"

#include "app/lab/lab_station.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/toml_table.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

class LabThresholdsProgram : public Program {
 protected:
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  Outcome thresholds(const std::string& arguments) {
    return run("lab thresholds " + arguments, "XDG_DATA_HOME=" + at("data") + " XDG_CONFIG_HOME=" + at("config"));
  }
  void expect_refused(const std::string& arguments, const std::string& part) {
    const Outcome outcome = thresholds(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << outcome.out;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
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
  expect_refused("", "needs either recordings of experts");
  expect_refused("--person zoe", "needs either recordings of experts");
  expect_refused("--person zoe --task burn_line", "no person has the id 'zoe'");
  for (int k = 1; k <= 3; ++k) keep("zoe", k, 90.0 + k), keep("li", k, 96.0);
  keep("li", 4, 20.0, "not done");
  expect_refused("--person zoe --task burn_line --level 2", "have no attempt at burn_line, level 2");
  expect_refused("x.h5 --person zoe", "not both");
  expect_refused("--person zoe --task burn_line --last 1", "1 of 1 attempts is finished");
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
  expect_refused(at("s1.h5"), "1 of 1 attempts is finished");
  expect_refused(mesh_, "m.obj");
}

}  // namespace
}  // namespace trocar
