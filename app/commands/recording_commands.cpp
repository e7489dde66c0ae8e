// trocar recover and replay: a killed recording made whole, a recording asked about again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/backend/backends.hpp"
#include "app/commands/commands.hpp"
#include "app/compare/replay.hpp"
#include "app/record/recording.hpp"
#include "app/report/session_summary.hpp"
#include "app/support/progress.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"

namespace trocar {
namespace {

void recover(const std::string& file) {
  const RecoverResult result = recover_recording(file);
  if (result.was_clean) {
    fmt::print("{}: whole already, {} frames, {:.2f} s; left as it is\n", file, result.frames, result.seconds);
  } else {
    fmt::print("{}: recovered {} frames, {:.2f} s, {} touches; now a plain file\n", file, result.frames, result.seconds,
               result.touches);
  }
}

// Asks the backend again about every recorded frame: the answers must be those of the recording.
void replay_file(const std::string& file, const std::string& backend_name) {
  const Recording recording(file);
  Backends backends;
  const BackendChoice choice = backends.resolve(backend_name.empty() ? recording.text("backend") : backend_name);
  fmt::print("{} frames, {} organs, {} tools, recorded {} with {} on {}\n", recording.frame_count(),
             recording.organs().size(), recording.tools().size(), printable(recording.text("date")),
             printable(recording.text("backend")), printable(recording.text("gl"), kLongestText));
  for (const BackendSummary& backend : summarise_backends(recording))
    if (backend.frame > 0 || !backend.fault.empty())
      fmt::print("from frame {} on ({:.2f} s) {} answered{}\n", backend.frame, backend.time, printable(backend.name),
                 backend.fault.empty() ? "" : "; " + printable(backend.fault, kLongestText));
  ReplayResult result;
  {
    Progress progress("replay", recording.frame_count());
    result = replay(recording, choice.name, backends, [&](std::size_t frames) { progress.advance_to(frames); });
  }
  fmt::print("replayed with {}: {} touches, {} of tips, {} changes of faces, {} frames differ from the recording\n",
             choice.name, result.touches, result.tip_touches, result.rebuilds, result.differing_frames);
  if (result.differing_frames > 0) throw RunError("the replay does not give the recorded touched faces");
}

}  // namespace

void add_recording_commands(CLI::App& program) {
  auto file = std::make_shared<std::string>(), backend = std::make_shared<std::string>();
  CLI::App* recover_sub =
      program.add_subcommand("recover", "What a killed recording holds; rewrites it as a plain file");
  recover_sub->add_option("recording", *file, "Session: .h5")->required();
  recover_sub->callback([file] { recover(*file); });

  CLI::App* replay_sub =
      program.add_subcommand("replay", "Asks about every recorded frame again and compares the answers");
  replay_sub->add_option("recording", *file, "Session: .h5")->required();
  replay_sub->add_option("--backend", *backend, "Default: the one of the recording");
  replay_sub->callback([file, backend] { replay_file(*file, *backend); });
}

}  // namespace trocar
