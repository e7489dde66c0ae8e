// trocar perform: a scripted trainee performs the task of a scene. Writes a recording and prints the score.
#include <fmt/format.h>

#include <algorithm>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/session/frame_cost.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {
namespace {

struct PerformCommand {
  std::string scene, skill = "expert", fault, out, backend;
  double dose = 1.0;
  std::uint32_t seed = 1;
  bool force = false, describe = false;
  SceneAccess access;
  std::optional<std::uint32_t> anatomy;
  std::optional<int> level;
};

HandStyle style_of(const PerformCommand& command) {
  const auto fault = std::ranges::find(kFaultNames, command.fault);
  if (fault != kFaultNames.end()) return style_with(static_cast<Fault>(fault - kFaultNames.begin()), command.dose);
  const auto skill = std::ranges::find(kSkillNames, command.skill);
  return style_of(static_cast<Skill>(skill - kSkillNames.begin()));
}

Scene scene_with_task(const PerformCommand& command) {
  Scene scene = with_level(with_anatomy(load_scene(command.scene, command.access), command.anatomy), command.level);
  if (!scene.task)
    throw InputError(fmt::format("{}: the scene has no [task] to perform; choose a scene with one", command.scene));
  share_cores(scene);
  return scene;
}

void print_events(const TaskResult& result, bool errors) {
  for (const TaskEvent& event : result.events)
    if (event.error == errors) fmt::print("  {:7.2f} s {} {}\n", event.time, errors ? "error" : "     ", event.text);
}

// Errors come first; a part counts only as far as the task was done.
void print_result(const TaskResult& result, const TaskFeed& feed) {
  fmt::print("{} in {:.1f} s\n", result.finished ? "done" : "not finished", feed.elapsed);
  if (const std::string cap = cap_text(result); !cap.empty()) fmt::print("{}\n", cap);
  print_events(result, true);
  for (const Metric& part : result.parts) {
    const auto grade = counted_grade(result, part);
    fmt::print("  {:44} {:9.2f} {:3} {}\n", part.label, part.value, part.unit,
               grade ? fmt::format("grade {:.2f}", *grade) : "");
  }
  if (const std::string text = counted_text(result); !text.empty()) fmt::print("{}\n", text);
  print_events(result, false);
  fmt::print("score {} of 100, {}\n", score_text(result.score),
             counted(static_cast<std::size_t>(feed.errors), "error"));
}

// Says what the patient of a seed is like.
void describe(const PerformCommand& command) {
  const Scene scene = load_scene(command.scene, command.access);
  fmt::print("{}\n", text_of(vary_anatomy(scene, *command.anatomy), *scene.anatomy));
}

void run(const PerformCommand& command) {
  if (command.describe) return describe(command);
  if (command.out.empty()) throw InputError("name the recording that is to be written: -o S.h5");
  const Scene scene = scene_with_task(command);
  refuse_same_files(files_of(scene), {{"--out", command.out}});
  const RecordingTarget target(command.out);
  refuse_existing({{"--out", command.out}}, command.force);
  Backends backends;
  PerformedSession attempt(scene, style_of(command), command.seed, backends, command.backend);
  Session& session = attempt.session();
  fmt::print("backend {}: {}\n", session.backend().name, session.backend().why);
  tell_slow_scene(scene, session, 0.0);
  attempt.record(recording_file(command.out), gl_description(backends),
                 {.activity = Activity::Demonstration, .device = kPerformerDevice});
  catch_interrupts();
  {
    FaultTeller faults;
    Progress progress("perform", static_cast<std::size_t>(scene.task->time_limit * scene.frame_rate) + 1);
    while (!attempt.task().feed().finished && !interrupted() && !attempt.failed()) {
      attempt.step();
      faults.tell(session.backend_faults());
      progress.advance_to(session.frames());
    }
  }
  attempt.close();
  print_result(attempt.task().result(), attempt.task().feed());
  if (const std::uint64_t pushes = held_back(session); pushes > 0)
    fmt::print("{} pushes of instruments were limited to fastest_tool\n", pushes);
  fmt::print("{} frames, written to {}\n", session.frames(), command.out);
}

}  // namespace

void add_perform_command(Command& program) {
  auto command = std::make_shared<PerformCommand>();
  Command& sub = program.command("perform", "Let a scripted trainee perform the task of a scene");
  sub.option("scene", command->scene, "Scene with a [task]: .toml").required();
  sub.option("--as", command->skill, "expert, average or clumsy")
      .one_of({kSkillNames.begin(), kSkillNames.end()})
      .shown();
  sub.option("--fault", command->fault, "an expert with a single fault")
      .one_of({kFaultNames.begin(), kFaultNames.end()})
      .excludes({"--as"});
  sub.option("--dose", command->dose, "Size of the fault: 0 none, 1 gross").within(0, 10).shown().needs("--fault");
  sub.option("--seed", command->seed, "Seed of the simulated trainee's tremor, aim and errors")
      .within(0, 4294967295.0)
      .shown();
  sub.option("-o,--out", command->out, "Recording: .h5; needed unless --describe is given");
  add_force_option(sub, command->force);
  sub.option("--describe", command->describe, "Only say what the patient of --anatomy is like").needs("--anatomy");
  sub.option("--backend", command->backend, "auto or a backend (trocar query --help lists them); default: the scene's");
  add_anatomy_option(sub, command->anatomy);
  add_level_option(sub, command->level);
  add_access_option(sub, command->access);
  sub.runs([command] { run(*command); });
}

}  // namespace trocar
