// trocar record: runs a headless session whose instruments follow recorded trajectories, or the attempt of an
// attempt.json again.   Tested in tests/app/recordings_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/compare/compare.hpp"
#include "geometry/error.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/inputs/attempt_file.hpp"
#include "sim/inputs/input_rerun.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/session/frame_cost.hpp"
#include "sim/session/session.hpp"
#include "sim/support/files.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct AttemptCommand {
  std::string from;      // attempt.json
  std::string out;       // recording
  std::string backend;   // empty: scan, which answers in the browser
  std::string validate;  // second backend that checks every frame; empty: none
  bool force = false;    // write over an older recording
};

void require_model(const AttemptFile& attempt, const std::string& file) {
  if (attempt.model_version == kModelVersion) return;
  throw InputError(fmt::format(
      "{}: cannot be computed again: it has version {} of the tissue model, and this program has {}; use the version "
      "that saved it ({})",
      file, attempt.model_version, kModelVersion, printable(attempt.program)));
}

// The attempt may come from an untrusted source: its scene lies in the program's data.
std::filesystem::path scene_file_of(const AttemptFile& attempt, const std::string& file) {
  const std::filesystem::path scene(attempt.scene);
  const bool named = !scene.empty() && scene.is_relative() && printable(attempt.scene, kLongestText) == attempt.scene &&
                     std::ranges::find(scene, "..") == scene.end();
  if (!named)
    throw InputError(fmt::format("{}: its scene '{}' is not a file below Trocar's data folder; save the attempt again",
                                 file, printable(attempt.scene)));
  const std::filesystem::path found = data_file(attempt.scene);
  if (!std::filesystem::is_regular_file(found))
    throw InputError(fmt::format("{}: its scene '{}' is not a file; save the attempt again", file, attempt.scene));
  return found;
}

Scene scene_of(const AttemptFile& attempt, const std::string& file) {
  const std::filesystem::path scene_file = scene_file_of(attempt, file);
  try {
    Scene scene = parse_scene(attempt.scene_text, scene_file);
    refuse_outside_files(scene, {});
    return scene;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: its scene is refused: {}", file, error.what()));
  }
}

// What the recording has in common with the attempt.
class Comparison {
 public:
  explicit Comparison(const AttemptFile& attempt) : attempt_(attempt) {}

  void add(const FrameSums& sums) {
    if (sums != attempt_.log.frames[frames_].sums) {
      if (differing_ == 0) first_ = frames_;
      ++differing_;
    }
    touched_ += sums.touched;
    ++frames_;
  }
  std::size_t frames() const { return frames_; }
  std::uint64_t touched() const { return touched_; }

  // Throws RunError when something differs.
  void report(const TaskRun* task) const {
    if (differing_ > 0)
      throw RunError(
          fmt::format("{} of {} frames differ from the attempt, the first of them is frame {}; the recording "
                      "is kept",
                      differing_, frames_, first_));
    if (!task) return fmt::print("every frame is that of the attempt: 0 differences\n");
    const TaskResult result = task->result();
    if (std::bit_cast<std::uint64_t>(result.score) != std::bit_cast<std::uint64_t>(attempt_.score))
      throw RunError(
          fmt::format("the score is {}, and the attempt has {}; the recording is kept", result.score, attempt_.score));
    if (!std::ranges::equal(result.events, attempt_.events, same_event))
      throw RunError(fmt::format("the {} events differ from the {} of the attempt; the recording is kept",
                                 result.events.size(), attempt_.events.size()));
    fmt::print("every frame, the score {:.1f} and {} events are those of the attempt: 0 differences\n", result.score,
               result.events.size());
  }

 private:
  static bool same_event(const TaskEvent& a, const TaskEvent& b) {
    return a.time == b.time && a.error == b.error && a.text == b.text;
  }

  const AttemptFile& attempt_;
  std::size_t frames_ = 0, differing_ = 0, first_ = 0;
  std::uint64_t touched_ = 0;
};

std::vector<CheckPlan> checks_of(const AttemptCommand& command) {
  return command.validate.empty() ? std::vector<CheckPlan>{} : std::vector<CheckPlan>{{command.validate, 1}};
}

// The same file gives the same key, so its attempt is entered once, however often it is recorded.
RunNote run_of(const AttemptFile& attempt) {
  RunNote run = attempt.run;
  if (run.activity == Activity::Attempt) run.attempt_key = attempt_key_from(attempt_text(attempt));
  return run;
}

void refuse_outputs(const AttemptCommand& command, const Scene& scene) {
  std::vector<NamedFile> inputs = files_of(scene);
  inputs.push_back({"--from", command.from});
  refuse_same_files(inputs, {{"--out", command.out}});
}

// Prints how the session's answers agree with the reference and with the second backend `validate`. Throws RunError
// when they do not.
void require_agreement(const Session& session, const std::string& validate) {
  fmt::print("{}\n", sample_sentence(session.sample()));
  if (validate.empty() && session.disagreements() > 0)
    throw RunError("answers differ from the double-precision reference; see `trocar compare` on the recording");
  if (validate.empty()) return;
  fmt::print("{} against {}: {} disagreements\n", session.backend().name, validate, session.disagreements());
  if (session.disagreements() > 0) throw RunError("the backends disagree; see `trocar compare` on the recording");
}

// Writes the recording and prints what it has. Throws InputError when the attempt cannot be run again here (nothing is
// written), and RunError when the recording is not the attempt: another touched face, checksum, score or event.
void record_attempt(const AttemptCommand& command) {
  const AttemptFile attempt = load_attempt(command.from);
  require_model(attempt, command.from);
  const Scene scene = scene_of(attempt, command.from);
  refuse_outputs(command, scene);
  const RecordingTarget target(command.out);
  refuse_existing({{"--out", command.out}}, command.force);
  Backends backends;
  InputRerun rerun(attempt.log, scene, backends, command.backend.empty() ? "scan" : command.backend,
                   checks_of(command));
  Session& session = rerun.session();
  fmt::print("backend {}: {}\n", session.backend().name, session.backend().why);
  SessionLoop loop(scene, session, attempt.run.clock);
  Comparison comparison(attempt);
  FrameSums sums;
  // Last, after every other check, because the recorder may replace an older recording.
  loop.record(with_sums(recording_file(command.out), sums), gl_description(backends), run_of(attempt));
  catch_interrupts();
  {
    FaultTeller faults;
    Progress progress("record", attempt.log.frames.size());
    while (!interrupted() && !loop.failed()) {
      const std::optional<FrameClock> clock = rerun.step();
      if (!clock) break;
      loop.follow(*clock);
      comparison.add(sums);
      faults.tell(session.backend_faults());
      progress.advance_to(comparison.frames());
    }
  }
  loop.close();
  fmt::print("{} frames, {} touched faces, written to {}\n", comparison.frames(), comparison.touched(), command.out);
  if (interrupted()) return fmt::print("interrupted: the recording ends here and is complete\n");
  comparison.report(loop.task());
  require_agreement(session, command.validate);
}

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
  share_cores(scene);
  refuse_inputs_as_output(command, scene);
  const RecordingTarget target(command.out);
  refuse_existing({{"--out", command.out}}, command.force);
  const Trajectories trajectories = load_trajectories(command, scene);
  keep_only(scene, trajectories);
  Backends backends;
  LoopPlan plan{.backend = command.backend, .task = false};
  if (!command.validate.empty()) plan.checks.push_back({command.validate, 1});
  plan.device = [&](const InstrumentScene& instrument) {
    return make_trajectory_device(trajectories.at(instrument.name));
  };
  SessionLoop loop(scene, backends, plan);
  Session& session = loop.session();
  fmt::print("backend {}: {}\n", session.backend().name, session.backend().why);
  const Trajectory& clock_rows = trajectories.begin()->second;
  tell_slow_scene(scene, session, longest_step(clock_rows));
  std::size_t frames = clock_rows.rows.size();
  for (const auto& [name, trajectory] : trajectories) frames = std::max(frames, trajectory.rows.size());

  std::optional<IgtlPublisher> publisher;
  if (command.publish) {
    publisher.emplace(scene, command.igtl);
    loop.set_publisher([&](const Session& frame) { publisher->publish(frame); });
  }
  // Last, after every other check, because the recorder may replace an older recording.
  refuse_longer_than_a_day(clock_rows, frames, scene.frame_rate);
  loop.record(recording_file(command.out), gl_description(backends),
              {.activity = Activity::Replay, .person = command.person, .device = kTrajectoryDevice});
  catch_interrupts();
  std::uint64_t touched = 0;
  double time = 0.0;
  {
    FaultTeller faults;
    Progress progress("record", frames);
    for (std::size_t frame = 0; frame < frames && !interrupted() && !loop.failed(); ++frame) {
      const auto row = std::min(frame, clock_rows.rows.size() - 1);
      const double before = time;
      time = frame == row ? clock_rows.rows[row].time : time + 1.0 / scene.frame_rate;
      loop.step({frame, time}, frame == 0 ? 1.0 / scene.frame_rate : time - before);
      faults.tell(session.backend_faults());
      touched += session.touched();
      progress.advance_to(frame + 1);
    }
  }
  loop.close();
  fmt::print("{} frames, {} touched faces, written to {}\n", session.frames(), touched, command.out);
  if (interrupted()) fmt::print("interrupted: the recording ends here and is complete\n");
  require_agreement(session, command.validate);
}

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

}  // namespace

void add_record_command(Command& program) {
  auto command = std::make_shared<RecordCommand>();
  Command& sub = program.command("record", "Run a headless session from recorded trajectories, or an attempt again");
  sub.option("scene", command->scene, "Scene: .toml");
  sub.option("--trajectory", command->trajectories, "[INSTRUMENT=]FILE.csv, one per instrument");
  // An attempt has its own scene, level and person, and no client listens to it.
  sub.option("--from", command->from, "attempt.json that the program in the browser saved, instead of a scene")
      .excludes({"scene", "--trajectory", "--igtl-port", "--person", "--anatomy", "--level", "--allow-outside"});
  sub.option("-o,--out", command->out, "Recording: .h5").required();
  add_force_option(sub, command->force);
  sub.option("--backend", command->backend,
             "auto or a backend (trocar query --help lists them); default: the scene's, scan for an attempt");
  sub.option("--validate", command->validate, "Second backend that checks every frame, for example obb-refit");
  sub.option("--igtl-port", command->igtl.port, "Send every frame to OpenIGTLink clients on this port")
      .within(1, 65535)
      .tells(command->publish);
  sub.option("--igtl-anyone", command->igtl.anyone, "Clients on other machines may connect too").needs("--igtl-port");
  add_person_option(sub, command->person);
  add_anatomy_option(sub, command->anatomy);
  add_level_option(sub, command->level);
  add_access_option(sub, command->access);
  sub.runs([command] { run_either(*command); });
}

}  // namespace trocar
