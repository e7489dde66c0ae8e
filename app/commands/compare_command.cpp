// trocar compare: runs the same frames through several backends, compares their answers with the double-precision
// reference, and times them side by side.
#include <fmt/format.h>

#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/compare.hpp"
#include "app/replay/replay.hpp"
#include "geometry/error.hpp"
#include "sim/support/files.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct CompareCommand {
  QueryOptions query;
  std::string recording, backends = "all", json, csv, plot;
  double wobble = 0.02;
  bool force = false;
};

std::unique_ptr<FrameSource> source_of(const CompareCommand& command) {
  const bool named_mesh = !command.query.mesh.empty();
  if (command.recording.empty() == !named_mesh) {
    throw InputError(
        "compare needs either a recording or --mesh with --trajectory and --radius; see trocar compare --help");
  }
  if (!named_mesh) return make_recording_source(command.recording);
  if (command.query.trajectory.empty() || command.query.radius_mm.empty()) {
    throw InputError("compare --mesh also needs --trajectory and --radius");
  }
  return load_query_source(command.query, command.wobble);
}

void write(std::optional<OutputFile>& file, const std::string& text) {
  if (!file) return;
  file->stream() << text;
  file->commit();
}

void run(const CompareCommand& command) {
  std::optional<OutputFile> json, csv, plot;
  const std::vector<NamedFile> outputs{{"--json", command.json}, {"--csv", command.csv}, {"--plot", command.plot}};
  refuse_same_files({{"the recording", command.recording},
                     {"--mesh", command.query.mesh},
                     {"--trajectory", command.query.trajectory}},
                    outputs);
  if (!command.json.empty()) json.emplace(command.json, OutputKind::Json);
  if (!command.csv.empty()) csv.emplace(command.csv, OutputKind::Table);
  if (!command.plot.empty()) plot.emplace(command.plot, OutputKind::Plot);
  refuse_existing(outputs, command.force);
  const auto source = source_of(command);
  Backends backends;
  const auto names = backend_list(command.backends, backends);
  CompareReport report;
  {
    Progress progress("compare", source->frame_count());
    report = compare_backends(*source, names, backends, [&](std::size_t done) { progress.advance_to(done); });
  }
  fmt::print("{}", compare_table(report));
  write(json, compare_json(report));
  write(csv, compare_csv(report));
  write(plot, compare_svg(report));
  fmt::print("{} backends, {} frames, {} disagreements\n", report.backends.size(), report.frames,
             report.disagreements());
  if (report.disagreements() > 0)
    throw RunError("the backends disagree with the double-precision reference; see the table above");
}

}  // namespace

void add_compare_command(Command& program) {
  auto command = std::make_shared<CompareCommand>();
  Command& sub = program.command("compare", "Run the same frames through several backends: agreement and time");
  sub.option("recording", command->recording, "Recording that supplies the frames: .h5");
  add_query_options(sub, command->query, false);
  sub.option("--wobble", command->wobble,
             "With --mesh: every vertex moves in every frame, by at most this fraction of the mesh's diagonal")
      .within(0.0, 0.5)
      .shown();
  sub.option("--backends", command->backends, "Names separated by commas, or all").shown();
  sub.option("--json", command->json, "Write the results as JSON");
  sub.option("--csv", command->csv, "Write the results as a table, one row per backend");
  sub.option("--plot", command->plot, "Write the results as an SVG plot");
  add_force_option(sub, command->force);
  sub.footer(backend_help());
  sub.runs([command] { run(*command); });
}

}  // namespace trocar
