// trocar record: runs a headless session whose instruments follow recorded trajectories, or the attempt of an
// attempt.json again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/commands/record_attempt.hpp"
#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/device/script_device.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/session/step_cost.hpp"
#include "sim/support/files.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct RecordCommand {
  std::string scene, from, out, backend, validate, person;
  std::vector<std::string> trajectories;  // [INSTRUMENT=]FILE
  IgtlServerParams igtl;
  bool publish = false, force = false;
  SceneAccess access;
  std::optional<std::uint32_t> anatomy;
  std::optional<int> level;
};

using Trajectories = std::map<std::string, Trajectory>;  // by instrument

// Returns the FILE of [INSTRUMENT=]FILE.
std::string file_in(const std::string& text) {
  const auto equals = text.find('=');
  return equals == std::string::npos ? text : text.substr(equals + 1);
}

Trajectories load_trajectories(const RecordCommand& command, const Scene& scene) {
  Trajectories trajectories;
  for (const auto& text : command.trajectories) {
    const auto equals = text.find('=');
    const std::string name = equals == std::string::npos ? scene.instruments.front().name : text.substr(0, equals);
    const auto known = [&](const InstrumentScene& instrument) { return instrument.name == name; };
    if (std::none_of(scene.instruments.begin(), scene.instruments.end(), known)) {
      throw InputError(fmt::format("--trajectory {}: the scene {} has no instrument '{}'", printable(text),
                                   scene.file.string(), printable(name)));
    }
    if (trajectories.contains(name))
      throw InputError(fmt::format("--trajectory: instrument '{}' has two; give one", printable(name)));
    trajectories[name] = load_trajectory(file_in(text));
  }
  return trajectories;
}

// Removes the instruments without a trajectory and starts the others at their first row.
void keep_only(Scene& scene, const Trajectories& trajectories) {
  std::erase_if(scene.instruments, [&](const auto& instrument) { return !trajectories.contains(instrument.name); });
  for (auto& instrument : scene.instruments) {
    const TrajectoryRow& start = trajectories.at(instrument.name).rows.front();
    instrument.pivot = start.pivot;
    instrument.tip = start.tip;
  }
}

void refuse_inputs_as_output(const RecordCommand& command, const Scene& scene) {
  std::vector<NamedFile> inputs = files_of(scene);
  for (const auto& text : command.trajectories) inputs.push_back({"--trajectory", file_in(text)});
  refuse_same_files(inputs, {{"--out", command.out}});
}

// `clock_rows`, the trajectory of the instrument whose name sorts first, sets the times of the frames. When another
// trajectory is longer, its last frames follow at the scene's frame rate.
void refuse_longer_than_a_day(const Trajectory& clock_rows, std::size_t frames, double frame_rate) {
  const double more = static_cast<double>(frames - clock_rows.rows.size()) / frame_rate;
  if (clock_rows.rows.back().time - clock_rows.rows.front().time + more > kLongestSession)
    throw InputError(fmt::format("--trajectory: the session lasts longer than {:g} s (one day); split the trajectories",
                                 kLongestSession));
}

double longest_step(const Trajectory& rows) {
  double longest = 0.0;
  for (std::size_t k = 1; k < rows.rows.size(); ++k)
    longest = std::max(longest, rows.rows[k].time - rows.rows[k - 1].time);
  return longest;
}

void run(const RecordCommand& command) {
  Scene scene = with_level(with_anatomy(load_scene(command.scene, command.access), command.anatomy), command.level);
  refuse_inputs_as_output(command, scene);
  const RecordingTarget target(command.out);
  refuse_existing({{"--out", command.out}}, command.force);
  const Trajectories trajectories = load_trajectories(command, scene);
  keep_only(scene, trajectories);
  Backends backends;
  std::vector<CheckPlan> checks;
  if (!command.validate.empty()) checks.push_back({command.validate, 1});
  Session session(scene, backends, command.backend, checks, [&](const InstrumentScene& instrument) {
    return make_trajectory_device(trajectories.at(instrument.name));
  });
  fmt::print("backend {}: {}\n", session.backend().name, session.backend().why);
  const Trajectory& clock_rows = trajectories.begin()->second;
  tell_slow_scene(scene, session, longest_step(clock_rows));
  std::size_t frames = clock_rows.rows.size();
  for (const auto& [name, trajectory] : trajectories) frames = std::max(frames, trajectory.rows.size());

  std::optional<IgtlPublisher> publisher;
  if (command.publish) publisher.emplace(scene, command.igtl);
  // Last, after every other check, because the recorder may replace an older recording.
  refuse_longer_than_a_day(clock_rows, frames, scene.frame_rate);
  SessionRecorder recorder(recording_file(command.out), scene, session, gl_description(backends),
                           {.activity = Activity::Replay, .person = command.person, .device = kTrajectoryDevice});
  catch_interrupts();
  std::uint64_t touched = 0;
  double time = 0.0;
  {
    FaultTeller faults;
    Progress progress("record", frames);
    for (std::size_t frame = 0; frame < frames && !interrupted() && !recorder.failed(); ++frame) {
      const auto row = std::min(frame, clock_rows.rows.size() - 1);
      const double before = time;
      time = frame == row ? clock_rows.rows[row].time : time + 1.0 / scene.frame_rate;
      session.step({frame, time}, frame == 0 ? 1.0 / scene.frame_rate : time - before);
      recorder.append(session, time);
      faults.tell(session.backend_faults());
      if (publisher) publisher->publish(session);
      touched += session.touched();
      progress.advance_to(frame + 1);
    }
  }
  recorder.close();
  fmt::print("{} frames, {} touched faces, written to {}\n", session.frames(), touched, command.out);
  if (interrupted()) fmt::print("interrupted: the recording ends here and is complete\n");
  require_agreement(session, command.validate);
}

}  // namespace

namespace {

// Either a scene with trajectories, or an attempt.
void run_either(const RecordCommand& command) {
  if (!command.from.empty())
    return record_attempt({command.from, command.out, command.backend, command.validate, command.force});
  if (command.scene.empty() || command.trajectories.empty())
    throw InputError(
        "record needs either a scene with --trajectory or --from with an attempt.json; see trocar record "
        "--help");
  run(command);
}

// An attempt has its own scene, level and person, and no client listens to it.
void exclude_beside_attempt(CLI::App& sub, CLI::Option& from) {
  for (const char* other :
       {"scene", "--trajectory", "--igtl-port", "--person", "--anatomy", "--level", "--allow-outside"})
    from.excludes(sub.get_option(other));
}

}  // namespace

void add_record_command(CLI::App& program) {
  auto command = std::make_shared<RecordCommand>();
  CLI::App* sub =
      program.add_subcommand("record", "Run a headless session from recorded trajectories, or an attempt again");
  sub->add_option("scene", command->scene, "Scene: .toml");
  sub->add_option("--trajectory", command->trajectories, "[INSTRUMENT=]FILE.csv, one per instrument");
  CLI::Option* from = sub->add_option("--from", command->from,
                                      "attempt.json that the program in the browser saved, instead of a scene");
  sub->add_option("-o,--out", command->out, "Recording: .h5")->required();
  add_force_option(*sub, command->force);
  sub->add_option("--backend", command->backend,
                  "auto or a backend (trocar query --help lists them); default: the scene's, scan for an attempt");
  sub->add_option("--validate", command->validate, "Second backend that checks every frame, for example obb-refit");
  CLI::Option* port =
      sub->add_option("--igtl-port", command->igtl.port, "Send every frame to OpenIGTLink clients on this port")
          ->check(within(1, 65535));
  sub->add_flag("--igtl-anyone", command->igtl.anyone, "Clients on other machines may connect too")->needs(port);
  add_person_option(*sub, command->person);
  add_anatomy_option(*sub, command->anatomy);
  add_level_option(*sub, command->level);
  add_access_option(*sub, command->access);
  exclude_beside_attempt(*sub, *from);
  sub->callback([command, port] {
    command->publish = port->count() > 0;
    run_either(*command);
  });
}

}  // namespace trocar
