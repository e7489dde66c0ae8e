// Tests that every graded metric of every kind of task, of an instrument and of a whole session can be explained, and
// that no two metrics share a name. A recording made by formula supplies the metrics of the session.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/attempt.hpp"
#include "tests/sim/every_kind.hpp"
#include "tests/sim/formula_session.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::FramesAtRest;

// Returns the parts of a task of this kind.
std::vector<Metric> parts_of_kind(TaskKind kind) {
  FramesAtRest frames;
  TaskRun run(FramesAtRest::task(kind), frames.stage());
  run.step(frames.next(run));
  return run.result().parts;
}

// Returns a scored session of two instruments with a task and a zone.
Attempt formula_attempt() {
  const TemporaryFolder folder;
  test::FormulaSession session;
  session.task =
      "[task]\nkind = \"keep-out\"\ntitle = \"Keep out\"\ntime_good_s = 1\ntime_limit_s = 3\nmost_force_n = 0.4\n"
      "most_tremor_mm = 0.2\n[[task.place]]\norgan = \"liver\"\nat_mm = [0, 0, -80]\n"
      "[[task.zone]]\noutline = [[0.5, -0.1], [0.9, -0.1], [0.9, 0.1], [0.5, 0.1]]\n";
  session.record(folder.path() / "s.h5");
  return score_recording(Recording(folder.path() / "s.h5"), "s.h5");
}

struct NamedTable {
  std::string name, kind;  // kind: of the task; "" for other tables
  std::vector<Metric> metrics;
};

// The tables of metrics that users see.
std::vector<NamedTable> all_tables() {
  std::vector<NamedTable> tables;
  for (const TaskKind kind : test::kEveryKind)
    tables.push_back({"task " + std::string(name_of(kind)), std::string(name_of(kind)), parts_of_kind(kind)});
  const Attempt attempt = formula_attempt();
  tables.push_back({"whole session", "", attempt.overall});
  tables.push_back({"instrument", "", attempt.instruments.at(0).metrics});
  return tables;
}

// The same id may appear for the whole session and for an instrument: it is the same metric of more or less.
TEST(MetricNames, NoTwoMetricsShareOne) {
  std::map<std::string, std::string> id_of;
  for (const NamedTable& table : all_tables()) {
    std::set<std::string> ids, labels;
    for (const Metric& metric : table.metrics) {
      EXPECT_TRUE(ids.insert(metric.id).second) << table.name << ": " << metric.id;
      EXPECT_TRUE(labels.insert(metric.label).second) << table.name << ": " << metric.label;
      const bool of_kind = !table.kind.empty() && std::ranges::any_of(grade_sentences(), [&](const auto& row) {
        return row.id == metric.id && table.kind == row.kind;
      });
      const std::string id = of_kind ? metric.id + " of " + table.kind : metric.id;
      const auto [known, is_new] = id_of.emplace(metric.label, id);
      EXPECT_EQ(known->second, id) << table.name << ": two metrics are called '" << metric.label << "'";
    }
  }
}

TEST(GradeTexts, EveryGradedMetricHasAReasonAndAnAdvice) {
  std::set<std::string> used;
  for (const NamedTable& table : all_tables())
    for (Metric metric : table.metrics) {
      if (!metric.good || !metric.poor) continue;
      metric.value = 0.5 * (*metric.good + *metric.poor);
      const GradeText text = grade_text(metric, table.kind);
      ASSERT_FALSE(text.why.empty()) << table.name << ": " << metric.id;
      ASSERT_FALSE(text.advice.empty()) << table.name << ": " << metric.id;
      for (const double number : {metric.value, *metric.good, *metric.poor})
        EXPECT_NE(text.why.find(value_with_unit(number, metric.unit)), std::string::npos) << text.why;
      for (const std::string& sentence : {text.why, text.advice}) {
        EXPECT_TRUE(sentence.ends_with('.')) << sentence;
        EXPECT_TRUE(sentence.find(". ") == std::string::npos) << "more than one sentence: " << sentence;
      }
      used.insert(text.advice);
    }
  for (const GradeSentences& row : grade_sentences()) EXPECT_TRUE(used.contains(row.advice)) << row.id << " is unused";
}

TEST(GradeTexts, AreInTheJson) {
  const auto json = nlohmann::json::parse(to_json(formula_attempt()));
  for (const auto* list : {&json["task"]["parts"], &json["overall"], &json["instruments"][0]["metrics"]})
    for (const auto& metric : *list) {
      EXPECT_EQ(metric.contains("mark"), metric.contains("why")) << metric["id"];
      EXPECT_EQ(metric.contains("mark"), metric.contains("advice")) << metric["id"];
    }
  EXPECT_FALSE(json["task"].contains("critical"));
}

}  // namespace
}  // namespace trocar
