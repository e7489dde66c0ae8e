// trocar recover and replay: a killed recording made whole, a recording asked about again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/backend/backends.hpp"
#include "app/commands/commands.hpp"
#include "app/compare/compare.hpp"
#include "app/compare/recording_source.hpp"
#include "app/record/recording.hpp"
#include "app/support/progress.hpp"
#include "geometry/error.hpp"

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
void replay(const std::string& file, const std::string& backend_name) {
  const Recording recording(file);
  Backends backends;
  const BackendChoice choice = backends.resolve(backend_name.empty() ? recording.text("backend") : backend_name);
  fmt::print("{} frames, {} organs, {} tools, recorded {} with {} on {}\n", recording.frame_count(),
             recording.organs().size(), recording.tools().size(), recording.text("date"), recording.text("backend"),
             recording.text("gl"));
  std::vector<std::unique_ptr<TouchQuery>> queries;
  for (const auto& organ : recording.organs()) {
    queries.push_back(backends.make(choice.name));
    queries.back()->rebuild(organ.mesh.view());
  }
  std::size_t touches = 0, differing_frames = 0;
  OrganFrame frame;
  std::vector<glm::vec3> positions;
  std::vector<ToolVolume> volumes;
  Progress progress("replay", recording.frame_count());
  for (std::size_t k = 0; k < recording.frame_count(); ++k) {
    recorded_volumes(recording, k, TouchSet::Exact, volumes);
    bool same = true;
    for (std::size_t organ = 0; organ < queries.size(); ++organ) {
      recording.read_frame(k, organ, frame);
      positions.resize(recording.organs()[organ].mesh.positions.size());
      embed_surface(recording.organs()[organ].embedding, frame.nodes, positions);
      queries[organ]->update(positions);
      const TouchList answer = queries[organ]->touched(volumes, TouchSet::Exact);
      same = same && std::equal(answer.touches.begin(), answer.touches.end(), frame.touches.begin(),
                                frame.touches.end(), [](const Touch& a, const Touch& b) { return a.face == b.face; });
      touches += frame.touches.size();
    }
    differing_frames += same ? 0 : 1;
    progress.advance_to(k + 1);
  }
  fmt::print("replayed with {}: {} touches, {} frames differ from the recording\n", choice.name, touches,
             differing_frames);
  if (differing_frames > 0) throw RunError("the replay does not give the recorded touched faces");
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
  replay_sub->callback([file, backend] { replay(*file, *backend); });
}

}  // namespace trocar
