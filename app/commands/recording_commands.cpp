// What is made of a finished recording. trocar replay: repeats its queries. trocar score: metrics and grades, as text,
// JSON and CSV. trocar report: a page for a browser.   Tested in tests/app/program_test.cpp
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/replay/replay.hpp"
#include "app/report/report.hpp"
#include "app/report/session_summary.hpp"
#include "app/window/replay/recorded_pictures.hpp"
#include "geometry/error.hpp"
#include "gpu_collision/gl_context.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

void write_replay(OutputFile& out, const std::string& backend, std::uint64_t frames, const ReplayResult& result) {
  fmt::print(out.stream(),
             "{{\n  \"format\": \"trocar-replay-1\",\n  \"backend\": \"{}\",\n  \"frames\": {},\n"
             "  \"touches\": {},\n  \"tip_touches\": {},\n  \"surface_changes\": {},\n"
             "  \"differing_frames\": {}\n}}\n",
             backend, frames, result.touches, result.tip_touches, result.rebuilds, result.differing_frames);
  out.commit();
}

// Repeats the touch query of every recorded frame; the answers must equal the recorded ones.
void replay_file(const std::string& file, const std::string& backend_name, const std::string& json_file, bool force) {
  refuse_same_files({{"the recording", file}}, {{"--json", json_file}});
  std::optional<OutputFile> json;
  if (!json_file.empty()) json.emplace(json_file, OutputKind::Json);
  refuse_existing({{"--json", json_file}}, force);
  const Recording recording(file);
  Backends backends;
  const BackendChoice choice = backends.resolve(backend_name.empty() ? recording.text("backend") : backend_name, {});
  fmt::print("{} frames, {} organs, {} tools, recorded {} with {} on {}\n", recording.frame_count(),
             recording.organs().size(), recording.tools().size(), printable(utc_text(recording.text("date"))),
             printable(recording.text("backend")), printable(recording.text("gl"), kLongestText));
  if (const std::string why = recording.text("backend_why"); !why.empty())
    fmt::print("{} was chosen: {}\n", printable(recording.text("backend")), printable(why, kLongestText));
  for (const BackendSummary& backend : summarise_backends(recording))
    if (backend.frame > 0 || !backend.fault.empty())
      fmt::print("from frame {} ({:.2f} s): {} answers{}\n", backend.frame, backend.time, printable(backend.name),
                 backend.fault.empty() ? "" : "; " + printable(backend.fault, kLongestText));
  ReplayResult result;
  {
    Progress progress("replay", recording.frame_count());
    result = replay(recording, choice.name, backends, [&](std::size_t frames) { progress.advance_to(frames); });
  }
  fmt::print("replayed with {}: {} touches, {} tip touches, {} surface changes, {} frames differ from the recording\n",
             choice.name, result.touches, result.tip_touches, result.rebuilds, result.differing_frames);
  if (!result.not_replayed.empty()) fmt::print("{}\n", result.not_replayed);
  if (json) write_replay(*json, choice.name, recording.frame_count(), result);
  if (result.differing_frames > 0)
    throw RunError("the replay gives other touched faces than the recording; see the line above");
}

struct ScoreOptions {
  std::vector<std::string> files, trajectories;
  std::string json, csv;
  bool all = false, force = false;
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

// At most twelve lines: what limits the score, the score, and the measures of a trainee with their reference bands.
void print_summary(const Attempt& attempt) {
  fmt::print("{}: {}{}{:.2f} s, {} frames, {}\n", attempt.file, attempt.scene_title,
             attempt.scene_title.empty() ? "" : ", ", attempt.duration, attempt.frames, utc_text(attempt.date));
  for (const std::string& text : {slow_machine_text(attempt), no_judgement_text(attempt)})
    if (!text.empty()) fmt::print("{}\n", text);
  if (attempt.task) {
    if (const std::string cap = cap_text(*attempt.task); !cap.empty()) fmt::print("{}\n", cap);
    fmt::print("{}: {} of 100, {}\n", attempt.task->title, score_text(attempt.task->score),
               attempt.task->finished ? "finished" : "not finished");
    if (const std::string text = counted_text(*attempt.task); !text.empty()) fmt::print("{}\n", text);
  }
  for (const Metric& metric : trainee_metrics(attempt))
    fmt::print("  {:<36} {:>10} {:<8} {}\n", metric.label, value_text(metric), metric.unit, reference_text(metric));
}

void print_all(const Attempt& attempt) {
  if (attempt.task) {
    fmt::print("parts of the score\n");
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
  for (const Attempt& attempt : attempts) {
    print_summary(attempt);
    if (options.all) print_all(attempt);
  }
  if (json) {
    json->stream() << to_json(attempts) << "\n";
    json->commit();
  }
  if (csv) {
    write_csv(csv->stream(), attempts);
    csv->commit();
  }
}

// The moments of a report's events; none without OpenGL.
std::vector<std::string> draw_events(const std::string& recording, std::span<const double> times) {
  Backends backends;
  GlContext* context = backends.context();
  return context ? event_pictures(recording, times, *context) : std::vector<std::string>();
}

void report(const std::vector<std::string>& files, const std::string& out, bool force, const std::string& try_at) {
  const std::size_t bytes = write_report(files, out, force, try_at, draw_events);
  fmt::print("{}: {} of {:.1f} MB; open it in a browser\n", out,
             files.size() == 1 ? "a report" : fmt::format("a comparison of {} attempts", files.size()),
             static_cast<double>(bytes) / 1e6);
}

void add_replay_command(Command& program) {
  auto file = std::make_shared<std::string>(), backend = std::make_shared<std::string>(),
       json = std::make_shared<std::string>();
  auto force = std::make_shared<bool>(false);
  Command& sub = program.command("replay", "Repeat the query of every recorded frame and compare the answers");
  sub.option("recording", *file, "Recording: .h5").required();
  sub.option("--backend", *backend, "Backend to use; default: the recorded one");
  sub.option("--json", *json, "Write the counts as JSON");
  add_force_option(sub, *force);
  sub.runs([file, backend, json, force] { replay_file(*file, *backend, *json, *force); });
}

void add_score_command(Command& program) {
  auto options = std::make_shared<ScoreOptions>();
  Command& sub = program.command("score", "Score recordings: metrics and, where defined, their grades");
  sub.option("recordings", options->files, "Recordings: .h5");
  sub.option("--trajectory", options->trajectories,
             "Motions of an instrument: .csv, in millimetres; only the motion metrics are known");
  sub.option("--all", options->all, "Print all measures, not only those of a trainee");
  sub.option("--json", options->json, "Write all results as JSON");
  sub.option("--csv", options->csv, "Write all results as a table, one row per metric");
  add_force_option(sub, options->force);
  sub.runs([options] { score(*options); });
}

void add_report_command(Command& program) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto out = std::make_shared<std::string>(), try_at = std::make_shared<std::string>();
  auto force = std::make_shared<bool>(false);
  Command& sub =
      program.command("report", "Write a page for a browser: one recording in full, or several side by side");
  sub.option("recordings", *files, "Recordings: .h5, in order of time").required();
  sub.option("-o,--out", *out, "Page: .html").required();
  add_force_option(sub, *force);
  sub.option("--try-at", *try_at, "Address of Trocar in the browser, to which the page links: https://...");
  sub.runs([files, out, force, try_at] { report(*files, *out, *force, *try_at); });
}

}  // namespace

void add_recording_commands(Command& program) {
  add_replay_command(program);
  add_score_command(program);
  add_report_command(program);
}

}  // namespace trocar
