// Tests the plan of a sweep: the order of crossed lists, patterns and ranges, and what is refused with which sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/sweep/plan.hpp"
#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

class SweepPlan : public ::testing::Test {
 protected:
  SweepPlan() {
    for (const char* name : {"b.h5", "a.h5", "c.txt", ".hidden.h5"}) folder_.write(name, "x");
    folder_.write("s.toml", "x");
  }

  Plan plan(const std::string& text) { return load_plan(folder_.write("plan.toml", text)); }

  void expect_refused(const std::string& text, const std::string& part) {
    try {
      plan(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("plan.toml"), std::string::npos) << what;
      EXPECT_NE(what.find(part), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }

  std::string line(const Plan& plan, std::uint64_t number) {
    std::string text;
    for (const auto& command : case_of(plan, number).commands) {
      for (const std::string& word : command) text += (word[0] == kScratchMark ? "@" + word.substr(1) : word) + " ";
      text += "; ";
    }
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(SweepPlan, LevelsOfATaskAreAList) {
  const std::string perform = "[[cases]]\nrun = \"perform\"\nscenes = \"s.toml\"\n";
  const Plan p = plan(perform + "levels = \"1..3\"\nseeds = [4, 5]\n");
  ASSERT_EQ(p.cases, 6u);
  EXPECT_EQ(line(p, 3), "perform s.toml --level 2 --seed 5 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  expect_refused(perform + "levels = [0]\n", "outside its limits 1 to 100");
  expect_refused(perform + "levels = [1.5]\n", "not a whole number");
}

TEST_F(SweepPlan, TheLastListVariesFastest) {
  const Plan p = plan(
      "timeout_s = 5\n[[cases]]\nrun = \"perform\"\nseeds = [\"2..3\", 9]\nas = [\"expert\", \"clumsy\"]\n"
      "scenes = \"s.toml\"\n[[cases]]\nrun = \"replay\"\nrecordings = \"*.h5\"\nbackends = [\"scan\", \"obb\"]\n");
  EXPECT_EQ(p.timeout, 5.0);
  ASSERT_EQ(p.cases, 10u);
  EXPECT_EQ(line(p, 0), "perform s.toml --as expert --seed 2 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  EXPECT_EQ(line(p, 2), "perform s.toml --as expert --seed 9 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  EXPECT_EQ(line(p, 3), "perform s.toml --as clumsy --seed 2 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  EXPECT_EQ(line(p, 6), "replay a.h5 --backend scan --json @result.json ; ");
  EXPECT_EQ(line(p, 7), "replay a.h5 --backend obb --json @result.json ; ");
  EXPECT_EQ(line(p, 9), "replay b.h5 --backend obb --json @result.json ; ");
  EXPECT_EQ(&group_of(p, 5), &p.groups[0]);
  EXPECT_EQ(&group_of(p, 6), &p.groups[1]);
}

TEST_F(SweepPlan, NumbersKeepTheirValueAndFlagsHaveNone) {
  const Plan p =
      plan("[[cases]]\nrun = \"tissue\"\nmodulus = [0.1, 1e3]\nsteps = \"1..2\"\nreference = true\nstick = false\n");
  ASSERT_EQ(p.cases, 4u);
  EXPECT_EQ(line(p, 1), "tissue test --modulus 0.1 --steps 2 --reference --out @result.csv ; ");
  EXPECT_EQ(line(p, 2), "tissue test --modulus 1000 --steps 1 --reference --out @result.csv ; ");
}

TEST_F(SweepPlan, ComparisonsTakeRecordingsOrMeshesWithTrajectories) {
  folder_.write("m.obj", "x"), folder_.write("t.csv", "x");
  const std::string compare = "[[cases]]\nrun = \"compare\"\nbackends = \"scan,obb\"\n";
  const std::string meshes = compare + "meshes = \"m.obj\"\ntrajectories = \"t.csv\"\n";
  const Plan p = plan(meshes + "radii = [2.5, 5]\nsets = [\"exact\", \"volume\"]\nwobble = 0\n");
  ASSERT_EQ(p.cases, 4u);
  EXPECT_EQ(line(p, 1),
            "compare --mesh m.obj --trajectory t.csv --radius 2.5 --set volume --wobble 0 --backends "
            "scan,obb --json @result.json ; ");
  expect_refused(compare, "cases.meshes: is missing; give recordings, or meshes, trajectories and radii");
  expect_refused(meshes, "cases.radii: is missing");
  expect_refused(compare + "recordings = \"a.h5\"\nradii = 5\n", "plan.toml:5: cases.radii: a recording has its own");
}

TEST_F(SweepPlan, AFileNameIsNeverAnOption) {
  folder_.write("-x.h5", "x");
  EXPECT_EQ(line(plan("[[cases]]\nrun = \"score\"\nrecordings = \"-x.h5\"\n"), 0),
            "score ./-x.h5 --json @result.json ; ");
}

TEST_F(SweepPlan, APatternMatchesNamesWithAStar) {
  EXPECT_TRUE(matches("*.h5", "a.h5"));
  EXPECT_TRUE(matches("a*b*c", "a--b-bc"));
  EXPECT_TRUE(matches("*", "a"));
  EXPECT_TRUE(matches("a**", "a"));
  EXPECT_TRUE(matches(".*", ".a"));
  EXPECT_FALSE(matches("*", ".a"));
  EXPECT_FALSE(matches("*.h5", "a.h5x"));
  EXPECT_FALSE(matches("a*b", "a"));
  EXPECT_FALSE(matches("[ab]", "a"));
}

TEST_F(SweepPlan, RefusesWithFileLineAndRemedy) {
  const std::string score = "[[cases]]\nrun = \"score\"\n", tissue = "[[cases]]\nrun = \"tissue\"\n";
  const std::string perform = "[[cases]]\nrun = \"perform\"\nscenes = \"s.toml\"\n";
  expect_refused("", "add [[cases]]");
  expect_refused("cases = 1\n", "plan.toml:1: cases: must be a list of tables");
  expect_refused("[[cases]]\n", "run: is missing");
  expect_refused("[[cases]]\nrun = \"fly\"\n", "plan.toml:2: cases.run: must be one of replay, score");
  expect_refused(score, "recordings: is missing");
  expect_refused(score + "recordings = []\n", "plan.toml:3: cases.recordings: is an empty list");
  expect_refused(score + "recordings = [1]\n", "must be text in quotes");
  expect_refused(score + "recordings = \"none.h5\"\n", "there is no file 'none.h5'");
  expect_refused(score + "recordings = \"x*.h5\"\n", "no file matches 'x*.h5'");
  expect_refused(score + "recordings = \"*/a.h5\"\n", "in the name of a folder");
  expect_refused(score + "recordings = \"a\\u0001.h5\"\n", "control characters");
  expect_refused(score + "recordings = \"a.h5\"\nseeds = 1\n", "plan.toml:4: cases.seeds: is not a key");
  expect_refused(tissue + "modulus = 0\n", "outside its limits");
  expect_refused(tissue + "modulus = nan\n", "finite");
  expect_refused(tissue + "modulus = \"1..3\"\n", "is not a number");
  expect_refused(tissue + "steps = 1.5\n", "is not a whole number");
  expect_refused(tissue + "steps = \"3..1\"\n", "is not a range");
  expect_refused(tissue + "steps = \"1..x\"\n", "is not a range");
  expect_refused(tissue + "shapes = \"ball\"\n", "must be one of cylinder, block, beam, mesh");
  expect_refused(tissue + "stick = 1\n", "must be true or false");
  expect_refused(perform + "seeds = -1\n", "outside its limits 0 to 4294967295");
  expect_refused(perform + "seeds = \"0..4294967295\"\n", "divide the plan");
  expect_refused(perform + "seeds = \"1..1000\"\nanatomy = \"1..1001\"\n", "more than 1000000 cases");
  expect_refused(perform + "backends = \"fast\"\n", "'fast' is not a backend");
  expect_refused(perform + "backends = \"scan,obb\"\n", "only `compare`");
  expect_refused(perform + "faults = \"tremor\"\nas = \"expert\"\n", "leave out `as`");
  expect_refused(perform + "dose = 1\n", "add `faults`");
  expect_refused("timeout_s = 0\n" + score, "plan.toml:1: timeout_s: 0 is outside its limits");
  expect_refused("schema = 2\n" + score, "schema");
  expect_refused("jobs = 2\n" + score, "plan.toml:1: jobs: is not a key");
  expect_refused("a = " + std::string(40, '[') + "\n", "brackets nested");
}

TEST_F(SweepPlan, TheChecksumSeesEveryCaseAndEveryFile) {
  const std::string text = "[[cases]]\nrun = \"replay\"\nrecordings = [\"a.h5\", \"b.h5\"]\nbackends = \"scan\"\n";
  const std::uint64_t sum = checksum_of(plan(text));
  EXPECT_EQ(checksum_of(plan("# a comment\ntimeout_s = 9\n" + text)), sum);
  EXPECT_NE(checksum_of(plan("[[cases]]\nrun = \"replay\"\nrecordings = [\"b.h5\", \"a.h5\"]\nbackends = \"scan\"\n")),
            sum);
  EXPECT_NE(checksum_of(plan("[[cases]]\nrun = \"compare\"\nrecordings = [\"a.h5\", \"b.h5\"]\nbackends = \"scan\"\n")),
            sum);
  folder_.write("a.h5", "longer");
  EXPECT_NE(checksum_of(plan(text)), sum);
}

// Returns the rows of docs/file-formats.md that describe the lists of a plan.
std::string documented_lists() {
  std::string text;
  for (const RunRow& run : run_table())
    for (const ParameterRow& row : run.parameters) {
      std::string values = "files";
      if (row.kind == ParameterKind::Word)
        values = row.words.empty() ? "texts" : fmt::format("`{}`", fmt::join(row.words, " "));
      if (row.kind == ParameterKind::Number || row.kind == ParameterKind::Whole)
        values = fmt::format("{}numbers, {:.10g} to {:.10g}", row.kind == ParameterKind::Whole ? "whole " : "",
                             row.limits.low, row.limits.high);
      if (row.kind == ParameterKind::Backends) values = "backends";
      if (row.kind == ParameterKind::Flag) values = "true or false";
      text += fmt::format("| {} | `{}` | `{}` | {}{} |\n",
                          &row == run.parameters.data() ? fmt::format("`{}`", run.name) : "", row.key, row.column,
                          values, row.required ? ", required" : "");
    }
  return text;
}

TEST_F(SweepPlan, TheDocumentListsEveryKey) {
  const std::string document = read_file(repository_file("docs/file-formats.md"));
  const std::string begin = "<!-- lists of a plan: begin -->\n", end = "<!-- lists of a plan: end -->";
  const std::size_t from = document.find(begin), to = document.find(end);
  ASSERT_NE(from, std::string::npos);
  const std::string shown = document.substr(from + begin.size(), to - from - begin.size());
  EXPECT_EQ(shown, "| run | list | column | values |\n|---|---|---|---|\n" + documented_lists());
}

}  // namespace
}  // namespace trocar
