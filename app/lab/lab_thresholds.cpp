#include "app/lab/lab_thresholds.hpp"

#include <fmt/format.h>

#include "app/lab/lab_course.hpp"
#include "app/lab/lab_date.hpp"
#include "app/lab/text_table.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"

namespace trocar {
namespace {

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::string as_comment(const std::string& text) {
  std::string comment;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    comment += "# " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return comment;
}

std::string values_table(const ExpertThresholds& found) {
  TextTable table({"metric", "unit", "n", "left out", "mean", "SD", "median", "least", "most", "threshold"});
  for (const ExpertThreshold& line : found.thresholds) {
    const ExpertValues& values = line.values;
    table.add({line.metric, line.unit, std::to_string(values.n), std::to_string(values.trimmed),
               number_text(values.mean), number_text(values.sd), number_text(values.median), number_text(values.least),
               number_text(values.most), fmt::format("{} {}", line.at_most ? "at most" : "at least", line.threshold)});
  }
  return table.text();
}

std::string heading(const ExpertThresholds& found) {
  std::string text = fmt::format("{}, level {}: {} attempts", printable(found.scene), found.level, found.attempts);
  if (found.experts > 0) text += fmt::format(" of {} {}", found.experts, found.experts == 1 ? "person" : "people");
  if (found.left_out > 0) text += fmt::format("; {} not finished, or with a critical error, left out", found.left_out);
  text += "\n";
  if (found.scripted > 0)
    text += fmt::format("{} of these attempts are by a scripted trainee: not thresholds for people.\n", found.scripted);
  text += fmt::format(
      "Values farther than {} SD from the mean are left out. Score and time: {} of the others. Force, tremor and "
      "errors: the\nlargest of the others. Sources: docs/curriculum.md\n",
      kTrimBeyond, found.rule == ExpertRule::Median ? "the median" : "the mean");
  return text;
}

std::string step_toml(const ExpertThresholds& found) {
  std::string text = "# A step of a curriculum. The scene's path is relative to the curriculum.\n[[step]]\n";
  const std::string scene = printable(found.scene);
  text += fmt::format("name = \"{} {}\"\nscene = \"{}.toml\"\nlevel = {}\n", scene, found.level, scene, found.level);
  if (const ExpertThreshold* score = found.find("score")) text += fmt::format("least_score = {}\n", score->threshold);
  text += "in_a_row = 2\n";
  for (const ExpertThreshold& line : found.thresholds)
    if (line.at_most)
      text += fmt::format("[[step.at_most]]\nmetric = \"{}\"\nvalue = {}\n", line.metric, line.threshold);
  return text;
}

std::string task_toml(const ExpertThresholds& found) {
  struct TaskKey {
    const char *metric, *key;
    double least;  // that the key accepts
  };
  constexpr TaskKey kKeys[] = {{"task_time", "time_good_s", 0.1},
                               {"task_peak_force", "most_force_n", 0.01},
                               {"task_tremor", "most_tremor_mm", 0.001}};
  std::string keys;
  for (const TaskKey& key : kKeys)
    if (const ExpertThreshold* line = found.find(key.metric); line && line->threshold >= key.least)
      keys += fmt::format("{} = {}\n", key.key, line->threshold);
  const char* table = found.level == 1 ? "[task]" : "[[task.level]]";
  return fmt::format(
      "# Keys of the scene{}. time_limit_s must be larger than time_good_s.\n# They change the scores: score the "
      "attempts again before you use their scores in a curriculum.\n{}\n{}",
      found.level == 1 ? "" : fmt::format(", for its level {}", found.level), table, keys);
}

}  // namespace

ExpertAttempt expert_attempt_of(const std::filesystem::path& recording) {
  const Recording opened(recording);
  const Attempt scored = score_recording(opened, recording.string());
  if (!scored.task)
    throw InputError(fmt::format("{}: has no task, so it gives no thresholds", printable(recording.string(), 200)));
  const auto activity = opened.activity();
  ExpertAttempt expert;
  expert.attempt = course_attempt(scored, opened.text("scene_name"), scored.level, date_of_text(scored.date));
  expert.expert = scored.person, expert.source = recording.string();
  expert.scripted = activity == Activity::Demonstration || activity == Activity::Script;
  return expert;
}

ExpertAttempt expert_attempt_of(const LabAttempt& attempt) {
  return {course_attempt(attempt), attempt.person, attempt.key, false};
}

std::string thresholds_toml(const ExpertThresholds& thresholds) {
  return as_comment(heading(thresholds) + values_table(thresholds)) + "\n" + step_toml(thresholds) + "\n" +
         task_toml(thresholds);
}

}  // namespace trocar
