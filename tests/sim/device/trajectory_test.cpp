// Tests trajectory files: valid files load, invalid files give an error message with line and remedy.
#include "sim/device/trajectory.hpp"

#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

constexpr const char* kHeader = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";

class TrajectoryFile : public ::testing::Test {
 protected:
  Trajectory load(const std::string& content) { return load_trajectory(folder_.write("t.csv", content)); }

  std::string sentence(const std::string& content) {
    try {
      load(content);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  void expect_sentence(const std::string& content, const std::string& part) {
    const std::string text = sentence(content);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  TemporaryFolder folder_;
};

TEST_F(TrajectoryFile, MillimetresAreConvertedToMetres) {
  const Trajectory trajectory = load(std::string(kHeader) + "0,0,0,250,10,20,30\n0.5,0,0,250,11,20,30\n");
  ASSERT_EQ(trajectory.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(trajectory.rows[0].pivot.z, 0.25);
  EXPECT_DOUBLE_EQ(trajectory.rows[1].tip.x, 0.011);
  EXPECT_DOUBLE_EQ(trajectory.rows[1].time, 0.5);
}

TEST_F(TrajectoryFile, OptionalColumnsInAnyOrder) {
  const Trajectory trajectory =
      load("grip,t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z,roll_deg\n0.5,0,0,0,250,1,2,3,-90\n");
  EXPECT_DOUBLE_EQ(trajectory.rows[0].grip, 0.5);
  EXPECT_DOUBLE_EQ(trajectory.rows[0].roll_deg, -90.0);
}

TEST_F(TrajectoryFile, ByteOrderMarkAndWindowsLineEnds) {
  const Trajectory trajectory =
      load("\xEF\xBB\xBFt,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\r\n0,0,0,250,1,2,3\r\n\r\n");
  EXPECT_EQ(trajectory.rows.size(), 1u);
}

TEST_F(TrajectoryFile, InvalidContentNamesLineAndRemedy) {
  const std::string header = kHeader;
  expect_sentence("", "empty");
  expect_sentence(header, "no row");
  expect_sentence("t,pivot_x,pivot_y,pivot_z,tip_x,tip_y\n0,0,0,250,1,2\n", "t.csv:1: column 'tip_z' is missing");
  expect_sentence(header + "0,0,0,250,1,2\n", "t.csv:2: the row has 6 cells");
  expect_sentence(header + "0,0,0,250,1,2,3\n1,0,0,abc,1,2,3\n", "t.csv:3: 'abc' in column pivot_z");
  expect_sentence(header + "0,0,0,inf,1,2,3\n", "'inf' in column pivot_z is not a finite number");
  expect_sentence(header + "0,0,0,nan,1,2,3\n", "'nan'");
  expect_sentence(header + "0,0,0,1e999,1,2,3\n", "'1e999'");
  expect_sentence(header + "0,0,0,,1,2,3\n", "''");
  expect_sentence(header + "0,0,0,1,1,2,3\n2,0,0,1,1,2,3\n1,0,0,1,1,2,3\n", "t.csv:4: the time decreases");
  expect_sentence(header + "0,1,2,3,1,2,3\n", "t.csv:2:");
  EXPECT_THROW(load_trajectory(folder_.path() / "absent.csv"), InputError);
  EXPECT_THROW(load_trajectory(folder_.path()), InputError);
}

// The same two rows as statistics programs and spreadsheets write them.
TEST_F(TrajectoryFile, DialectsThatHaveOneMeaningAreRead) {
  const std::string quoted = "\"t\",\"pivot_x\",\"pivot_y\",\"pivot_z\",\"tip_x\",\"tip_y\",\"tip_z\"\n";
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  };
  const std::string plain = std::string(kHeader) + "0.5,0,-1,250,10,20.25,30\n1.5e0,0,-1,250,11,20.25,30\n";
  const std::string semicolons = with(with(plain, ",", ";"), ".", ",");
  const std::string dialects[] = {
      plain,
      quoted + "0.5,0,-1,250,10,20.25,30\n1.5,0,-1,250,11,20.25,30\n",
      quoted +
          "\"0.5\",\"0\",\"-1\",\"250\",\"10\",\"20.25\",\"30\"\n\"1.5\",\"0\",\"-1\",\"250\",\"11\",\"20.25\","
          "\"30\"\n",
      "\"\"," + quoted + "\"1\",0.5,0,-1,250,10,20.25,30\n\"2\",1.5,0,-1,250,11,20.25,30\n",  // row names of R
      semicolons,
      with(semicolons, ",", "."),
      with(with(quoted, ",", ";"), "x", "x") + "0,5;0;-1;250;10;20,25;30\n1,5;0;-1;250;11;20,25;30\n",
      with(plain, ",", "\t"),
      with(with(plain, ",", "\t"), ".", ","),
      with(plain, ",", "|"),
      with(plain, ",", " "),
      with(plain, ",", "  "),
      with(plain, ",", " , "),
      "sep=,\n" + plain,
      "sep=;\r\n" + semicolons,
      "SEP=\t\n" + with(plain, ",", "\t"),
      "\"sep=;\"\n" + semicolons,
      "# made by a tracker, 2026\n#\n" + plain,
      "\n  # made by a tracker; t,pivot_x\n" + with(plain, "\n1.5", "\n# a pause\n1.5"),
      "# " + plain,  // numpy.savetxt
      "# t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n" + plain,
      with(plain, "\n", "\r"),
      with(semicolons, "\n", "\r"),
      with(plain, "\n", "\r\n"),
      with(plain, "\n", "\r\r\n"),
      "\xEF\xBB\xBF" + quoted + "0.5,0,-1,250,10,20.25,30,\n1.5,0,-1,250,11,20.25,30,\n",
      with(plain, ",20.25", ",+20.25"),
  };
  for (const std::string& content : dialects) {
    SCOPED_TRACE(content);
    ASSERT_EQ(sentence(content), "no error");
    const Trajectory read = load(content);
    ASSERT_EQ(read.rows.size(), 2u);
    EXPECT_DOUBLE_EQ(read.rows[0].time, 0.5);
    EXPECT_DOUBLE_EQ(read.rows[1].time, 1.5);
    EXPECT_DOUBLE_EQ(read.rows[1].pivot.y, -0.001);
    EXPECT_DOUBLE_EQ(read.rows[1].tip.x, 0.011);
    EXPECT_DOUBLE_EQ(read.rows[0].tip.y, 0.02025);
  }
}

TEST_F(TrajectoryFile, DialectsWithTwoMeaningsAreNamed) {
  const std::string header = kHeader;
  std::string wide = "\xFF\xFE";
  for (const char c : header) wide += {c, '\0'};
  expect_sentence(wide, "t.csv: the file is UTF-16 text; save it as UTF-8");
  // Decimal commas between commas would shift the columns.
  expect_sentence(header + "0,5,0,0,250,10,20,30\n", "t.csv:2: the row has 8 cells, but the header has 7; ");
  expect_sentence(header + "0,5,0,0,250,10,20,30\n", "decimal commas");
  expect_sentence(header + "\"0,5\",0,0,250,10,20,30\n", "t.csv:2: '0,5' in column t");
  expect_sentence("t;pivot_x;pivot_y;pivot_z;tip_x;tip_y;tip_z\n0;0;0;1.250,5;10;20;30\n",
                  "t.csv:2: '1.250,5' in column pivot_z");
  expect_sentence("t;pivot_x;pivot_y;pivot_z;tip_x;tip_y;tip_z\n0,5;0;0;250;10;20;30\n0.7;0;0;250;10;20;30\n",
                  "t.csv:3: '0.7' in column t has a decimal point, but line 2 has decimal commas");
  expect_sentence(header + "\"0,0,0,250,10,20,30\n", "t.csv:2: a quotation mark is not closed");
  expect_sentence("sep=x\n" + header, "t.csv:1: ");
  expect_sentence("a;b;c\n1;2;3\n", "t.csv:1: column 't' is missing");
}

TEST_F(TrajectoryFile, RadiusMustFitTheOrgan) {
  const std::vector<glm::vec3> positions = {{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}};
  const std::vector<glm::uvec3> faces = {{0, 1, 2}};
  const MeshView organ{positions, faces};
  EXPECT_NO_THROW(check_radius(0.0025, organ));
  for (const double radius :
       {0.0, -0.001, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.2}) {
    EXPECT_THROW(check_radius(radius, organ), InputError) << radius;
  }
}

TEST_F(TrajectoryFile, RealRecordingLoads) {
  const auto file = shared_file("trajectories/dvrk_classic.csv");
  if (!file) GTEST_SKIP() << "no shared test data";
  const Trajectory trajectory = load_trajectory(*file);
  EXPECT_EQ(trajectory.rows.size(), 490u);
  EXPECT_EQ(thinned(trajectory, 3).rows.size(), 164u);
  EXPECT_EQ(thinned(trajectory, 6).rows.size(), 82u);
}

}  // namespace
}  // namespace trocar
