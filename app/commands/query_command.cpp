// trocar query: lists the faces that the tool touches in each frame of a trajectory, on a mesh at rest.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/commands/query_options.hpp"
#include "app/compare/backends.hpp"
#include "app/compare/compare.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct QueryCommand {
  QueryOptions query;
  std::string backend = "auto", out, json;
  bool force = false;
};

nlohmann::ordered_json touch_record(std::size_t frame, const Touch& touch) {
  return {{"frame", frame},
          {"face", index(touch.face)},
          {"point_mm", {touch.point.x * 1e3, touch.point.y * 1e3, touch.point.z * 1e3}},
          {"normal", {touch.normal.x, touch.normal.y, touch.normal.z}},
          {"depth_mm", touch.depth * 1e3},
          {"time", touch.time}};
}

nlohmann::ordered_json header(const QueryCommand& command, const FrameSource& source, const BackendChoice& choice,
                              Backends& backends) {
  return {{"backend", choice.name},
          {"why", choice.why},
          {"machine", machine_description()},
          {"gl", gl_description(backends)},
          {"faces", source.organ(0).faces.size()},
          {"frames", source.frame_count()},
          {"radius_mm", source.radius() * 1e3},
          {"mode", command.query.mode},
          {"cover", command.query.cover},
          {"set", command.query.set}};
}

void run(const QueryCommand& command) {
  const std::vector<NamedFile> outputs{{"--out", command.out}, {"--json", command.json}};
  refuse_same_files({{"--mesh", command.query.mesh}, {"--trajectory", command.query.trajectory}}, outputs);
  OutputFile csv(command.out, OutputKind::Table);
  std::optional<OutputFile> json_file;
  if (!command.json.empty()) json_file.emplace(command.json, OutputKind::Json);
  refuse_existing(outputs, command.force);
  const auto source = load_query_source(command.query, 0.0);
  Backends backends;
  const BackendChoice choice = backends.resolve(command.backend, std::array{source->organ(0)});
  const auto query = backends.make(choice.name);
  fmt::print("backend {}: {}\n", choice.name, choice.why);

  query->rebuild(source->organ(0));
  require_start(*query);
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  std::vector<double> query_ms;
  std::size_t touched = 0;
  csv.stream() << "frame,face\n";
  Progress progress("query", source->frame_count());
  for (std::size_t frame = 0; frame < source->frame_count(); ++frame) {
    source->load(frame);
    query->update(source->positions(0));
    const TouchList list = query->touched(source->tools(), source->kind().set);
    require_answer(*query);
    query_ms.push_back(query->times().total_ms());
    touched += list.touches.size();
    for (const Touch& touch : list.touches) {
      fmt::print(csv.stream(), "{},{}\n", frame, index(touch.face));
      if (json_file && source->kind().set == TouchSet::Exact) records.push_back(touch_record(frame, touch));
    }
    progress.advance_to(frame + 1);
  }
  const double median_ms = summarise(std::move(query_ms)).median;
  if (json_file) {
    auto json = header(command, *source, choice, backends);
    json["touched"] = touched;
    json["median_ms"] = median_ms;
    json["touches"] = std::move(records);
    json_file->stream() << json.dump(1) << "\n";
    json_file->commit();
  }
  csv.commit();
  fmt::print("{} frames, {} faces, {} touched, median {:.4f} ms a frame, written to {}\n", source->frame_count(),
             source->organ(0).faces.size(), touched, median_ms, command.out);
}

}  // namespace

void add_query_command(CLI::App& program) {
  auto command = std::make_shared<QueryCommand>();
  CLI::App* sub = program.add_subcommand("query", "List the faces of a mesh at rest that a tool touches in each frame");
  add_query_options(*sub, command->query, true);
  sub->add_option("--backend", command->backend, "auto or one of the backends below")->capture_default_str();
  sub->add_option("-o,--out", command->out, "Table of touched faces: rows frame,face, sorted")->required();
  sub->add_option("--json", command->json, "Write the same as JSON, with point, normal, depth and time of each touch");
  add_force_option(*sub, command->force);
  sub->footer(backend_help());
  sub->callback([command] { run(*command); });
}

}  // namespace trocar
