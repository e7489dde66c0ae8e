// Tests the evaluation of a recording in Python: pandas opens every table, and the example in the docs runs and is
// correct. Also tests the output of trocar score.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/sim/session/formula_session.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr const char* kAwkward = "left, \"5 mm\"";

// Prints what pandas reads from a table: number of rows, columns that are not numbers, sum of one column.
constexpr const char* kLook =
    "import sys, pandas\n"
    "t = pandas.read_csv(sys.argv[1])\n"
    "print(len(t), list(t.select_dtypes('object').columns), '%.6g' % t[sys.argv[2]].sum())\n";

struct Researcher : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "s.h5";
  test::FormulaSession session;

  Researcher() {
    RecordingHeader header = session.header();
    header.tools[0] = kAwkward;
    Recorder recorder(file, header);
    for (std::size_t frame = 0; frame < session.frames(); ++frame) session.append(recorder, frame);
    recorder.close();
  }

  int run(const std::string& line) const {
    const std::string to = " >" + (folder.path() / "out").string() + " 2>" + (folder.path() / "err").string();
    const int status = std::system((line + to + " </dev/null").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string out() const { return read_file(folder.path() / "out"); }
  std::string err() const { return read_file(folder.path() / "err"); }

  std::string look(const std::string& table, const std::string& column) const {
    const auto script = folder.write("look.py", kLook);
    EXPECT_EQ(run(fmt::format("/usr/bin/python3 {} {}/{} {}", script.string(), folder.path().string(), table, column)),
              0)
        << err();
    return out();
  }
};

TEST_F(Researcher, PandasOpensEveryTable) {
  if (run("/usr/bin/python3 -c 'import pandas'") != 0) GTEST_SKIP() << "pandas is missing: " << err();
  const std::string at = folder.path().string();
  ASSERT_EQ(run(fmt::format("{} export {} --csv {}", TROCAR_PROGRAM, file.string(), at)), 0) << err();
  EXPECT_EQ(look("tools.csv", "force_y"), "482 ['tool'] 180\n");
  EXPECT_EQ(look("touches.csv", "pressure_pa"), "30 ['organ', 'tool'] 5.3e+06\n");
  EXPECT_EQ(look("clashes.csv", "distance_mm"), fmt::format("241 ['first', 'second'] {:.6g}\n", 214 * 4.0 - 27.0));
  EXPECT_EQ(look("stages.csv", "disagreements"), "241 [] 0\n");
  ASSERT_EQ(run(fmt::format("{0} score {1} {1} --csv {2}/scores.csv", TROCAR_PROGRAM, file.string(), at)), 0) << err();
  const Attempt attempt = score_recording(Recording(file), "");
  std::size_t rows = attempt.overall.size();
  for (const InstrumentScore& instrument : attempt.instruments) rows += instrument.metrics.size();
  EXPECT_TRUE(
      look("scores.csv", "value").starts_with(fmt::format("{} ['file', 'date_utc', 'of', 'metric', 'unit']", 2 * rows)))
      << out();
}

TEST_F(Researcher, TheExampleOfTheDocsIsCorrect) {
  if (run("/usr/bin/python3 -c 'import h5py'") != 0) GTEST_SKIP() << "h5py is missing: " << err();
  const std::string page = read_file(std::filesystem::path(TROCAR_SOURCE_DIR) / "docs/python.md");
  const std::size_t begin = page.rfind("```python\n", page.find("import h5py")) + 10, end = page.find("```\n", begin);
  const auto script = folder.write("example.py", page.substr(begin, end - begin));
  ASSERT_EQ(run(fmt::format("/usr/bin/python3 {} {}", script.string(), file.string())), 0) << err();
  EXPECT_EQ(out(), fmt::format("{}: path 100.0 mm, peak 3.000 N, 3.000 N s\n"
                               "right: path 0.0 mm, peak 0.500 N, 2.000 N s\n"
                               "liver: 30 touches, most in frame 61: faces [3]\n",
                               kAwkward));
}

TEST_F(Researcher, ScoresAreWrittenAsTables) {
  const std::string json = (folder.path() / "j.json").string();
  ASSERT_EQ(run(fmt::format("{} score {} --json {}", TROCAR_PROGRAM, file.string(), json)), 0) << err();
  for (const char* line : {"Formula, 4.00 s, 241 frames", "Path length                                 100 mm",
                           "Mean squared jerk", "does not discriminate skill"})
    EXPECT_NE(out().find(line), std::string::npos) << line << "\n" << out();
  EXPECT_NE(read_file(json).find("trocar-scores-1"), std::string::npos);
}

TEST_F(Researcher, WrongInputIsRefused) {
  const std::string none = (folder.path() / "none.h5").string(), json = (folder.path() / "j.json").string();
  EXPECT_EQ(run(fmt::format("{} score {} {} --json {}", TROCAR_PROGRAM, file.string(), none, json)), 2);
  EXPECT_NE(err().find("none.h5"), std::string::npos) << err();
  EXPECT_FALSE(std::filesystem::exists(json));
  EXPECT_EQ(run(fmt::format("{} score", TROCAR_PROGRAM)), 2);
  EXPECT_EQ(run(fmt::format("{} export {}", TROCAR_PROGRAM, file.string())), 2);
  EXPECT_NE(err().find("--pvd"), std::string::npos) << err();
  EXPECT_EQ(
      run(fmt::format("{} export {} --pvd {}/p --every 0", TROCAR_PROGRAM, file.string(), folder.path().string())), 2);
  EXPECT_EQ(
      run(fmt::format("{} export {} --pvd {}/p --every 100", TROCAR_PROGRAM, file.string(), folder.path().string())),
      0);
  EXPECT_EQ(out(), fmt::format("3 frames written to 6 files, listed in {}/p/recording.pvd\n", folder.path().string()));
}

}  // namespace
}  // namespace trocar
