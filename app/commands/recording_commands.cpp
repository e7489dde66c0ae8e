// trocar recover: rewrites the recording of a killed session. trocar replay: repeats the queries of a recording.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/replay/replay.hpp"
#include "app/report/session_summary.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

void recover(const std::string& file) {
  const RecoverResult result = recover_recording(file);
  if (result.was_clean) {
    fmt::print("{}: already complete, {} frames, {:.2f} s; not changed\n", file, result.frames, result.seconds);
  } else {
    fmt::print("{}: recovered {} frames, {:.2f} s, {} touches; it is now a plain file\n", file, result.frames,
               result.seconds, result.touches);
  }
}

void write_replay(OutputFile& out, const std::string& backend, std::uint64_t frames, const ReplayResult& result) {
  const nlohmann::ordered_json json{{"format", "trocar-replay-1"},
                                    {"backend", backend},
                                    {"frames", frames},
                                    {"touches", result.touches},
                                    {"tip_touches", result.tip_touches},
                                    {"surface_changes", result.rebuilds},
                                    {"differing_frames", result.differing_frames}};
  out.stream() << json.dump(2) << "\n";
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

}  // namespace

void add_recording_commands(CLI::App& program) {
  auto file = std::make_shared<std::string>(), backend = std::make_shared<std::string>(),
       json = std::make_shared<std::string>();
  CLI::App* recover_sub =
      program.add_subcommand("recover", "Rewrite the recording of a killed session as a plain file");
  recover_sub->add_option("recording", *file, "Recording: .h5")->required();
  recover_sub->callback([file] { recover(*file); });

  CLI::App* replay_sub =
      program.add_subcommand("replay", "Repeat the query of every recorded frame and compare the answers");
  replay_sub->add_option("recording", *file, "Recording: .h5")->required();
  replay_sub->add_option("--backend", *backend, "Backend to use; default: the recorded one");
  replay_sub->add_option("--json", *json, "Write the counts as JSON");
  const auto force = std::make_shared<bool>(false);
  add_force_option(*replay_sub, *force);
  replay_sub->callback([file, backend, json, force] { replay_file(*file, *backend, *json, *force); });
}

}  // namespace trocar
