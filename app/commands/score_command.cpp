// trocar score: computes the metrics and grades of recordings; writes them as text, JSON and CSV.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/attempt_json.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

struct ScoreOptions {
  std::vector<std::string> files, trajectories;
  std::string json, csv;
  bool force = false;
};

std::string value_text(const Metric& metric) {
  if (!std::isfinite(metric.value)) return "-";
  return fmt::format("{:.5g}", metric.value);
}

// Returns the grade of a metric with its good and poor values; for a metric without a grade its note.
std::string grade_text(const Metric& metric) {
  const auto grade = mark_of(metric);
  if (!grade) return std::isfinite(metric.value) ? metric.note : "";
  return fmt::format("{:3.0f} %  (good {:.4g}, poor {:.4g})", *grade * 100.0, *metric.good, *metric.poor);
}

void print_table(const std::vector<Metric>& metrics) {
  for (const Metric& metric : metrics)
    fmt::print("  {:<36} {:>10} {:<8} {}\n", metric.label, value_text(metric), metric.unit, grade_text(metric));
}

void print_attempt(const Attempt& attempt) {
  fmt::print("{}: {}{}{:.2f} s, {} frames, {}\n", attempt.file, attempt.scene_title,
             attempt.scene_title.empty() ? "" : ", ", attempt.duration, attempt.frames, utc_text(attempt.date));
  if (const std::string slow = slow_machine_text(attempt); !slow.empty()) fmt::print("{}\n", slow);
  if (attempt.task) {
    fmt::print("{}: {:.1f} of 100, {}\n", attempt.task->title, attempt.task->score,
               attempt.task->finished ? "finished" : "not finished");
    if (const std::string cap = cap_text(*attempt.task); !cap.empty()) fmt::print("{}\n", cap);
    print_table(attempt.task->parts);
  }
  fmt::print("whole attempt\n");
  print_table(attempt.overall);
  for (const InstrumentScore& instrument : attempt.instruments) {
    fmt::print("{}\n", instrument.name);
    print_table(instrument.metrics);
  }
}

std::string cell(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

void write_rows(std::ostream& out, const Attempt& attempt, const std::string& of, const std::vector<Metric>& metrics) {
  for (const Metric& metric : metrics)
    fmt::print(out, "{},{},{},{},{},{},{},{},{}\n", csv_text(attempt.file), csv_text(attempt.date), csv_text(of),
               metric.id, cell(metric.value), metric.unit, cell(metric.good), cell(metric.poor), cell(mark_of(metric)));
}

void write_csv(std::ostream& out, const std::vector<Attempt>& attempts) {
  out << "file,date_utc,of,metric,value,unit,good,poor,mark\n";
  for (const Attempt& attempt : attempts) {
    if (attempt.task) {
      write_rows(out, attempt, "task", {{"task_score", "", "", attempt.task->score, 100.0, 0.0, ""}});
      write_rows(out, attempt, "task", attempt.task->parts);
    }
    write_rows(out, attempt, "whole", attempt.overall);
    for (const InstrumentScore& instrument : attempt.instruments)
      write_rows(out, attempt, instrument.name, instrument.metrics);
  }
}

void score(const ScoreOptions& options) {
  std::optional<OutputFile> json, csv;
  std::vector<NamedFile> inputs;
  if (options.files.empty() && options.trajectories.empty())
    throw InputError("score needs either a recording or --trajectory; name a file");
  for (const std::string& file : options.files) inputs.push_back({"the recording", file});
  for (const std::string& file : options.trajectories) inputs.push_back({"--trajectory", file});
  const std::vector<NamedFile> outputs{{"--json", options.json}, {"--csv", options.csv}};
  refuse_same_files(inputs, outputs);
  if (!options.json.empty()) json.emplace(options.json, OutputKind::Json);
  if (!options.csv.empty()) csv.emplace(options.csv, OutputKind::Table);
  refuse_existing(outputs, options.force);
  std::vector<Attempt> attempts;
  for (const std::string& file : options.files) attempts.push_back(score_recording(Recording(file), file));
  for (const std::string& file : options.trajectories)
    attempts.push_back(score_trajectory(load_trajectory(file), file));
  for (const Attempt& attempt : attempts) print_attempt(attempt);
  if (json) {
    json->stream() << to_json(attempts) << "\n";
    json->commit();
  }
  if (csv) {
    write_csv(csv->stream(), attempts);
    csv->commit();
  }
}

}  // namespace

void add_score_command(CLI::App& program) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* sub = program.add_subcommand("score", "Score recordings: metrics and, where defined, their grades");
  sub->add_option("recordings", options->files, "Recordings: .h5");
  sub->add_option("--trajectory", options->trajectories,
                  "Motions of an instrument: .csv, in millimetres; only the motion metrics are known");
  sub->add_option("--json", options->json, "Write all results as JSON");
  sub->add_option("--csv", options->csv, "Write all results as a table, one row per metric");
  add_force_option(*sub, options->force);
  sub->callback([options] { score(*options); });
}

}  // namespace trocar
