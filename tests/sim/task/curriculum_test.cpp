// Tests the reader of curricula: what it returns, what it refuses with which sentence, and that the ids of metrics are
// those of the documents. The curricula of the product load, with their scenes and levels.
#include "sim/course/curriculum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
