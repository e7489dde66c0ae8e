#include "app/commands/record_attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <optional>

#include "app/compare/backends.hpp"
#include "app/compare/session_report.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/inputs/attempt_file.hpp"
#include "sim/inputs/input_rerun.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {
namespace {

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

// The task of the attempt, if its scene has one. It sees the frames as when the attempt was made.
class AttemptTask {
 public:
  AttemptTask(const Scene& scene, Session& session, ScoreClock clock) : clock_(clock) {
    if (!scene.task) return;
    task_.emplace(*scene.task, stage_of(session));
    session.set_marks(task_->marks(), task_->watched_marks());
  }

  void follow(const Session& session, const FrameClock& clock) {
    if (task_) task_->step(observer_.observe(session, clock_ == ScoreClock::Wall ? clock.wall : clock.time));
  }
  const TaskRun* task() const { return task_ ? &*task_ : nullptr; }

 private:
  ScoreClock clock_;
  std::optional<TaskRun> task_;
  SessionObserver observer_;
};

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

}  // namespace

void require_agreement(const Session& session, const std::string& validate) {
  fmt::print("{}\n", sample_sentence(session.sample()));
  if (validate.empty() && session.disagreements() > 0)
    throw RunError("answers differ from the double-precision reference; see `trocar compare` on the recording");
  if (validate.empty()) return;
  fmt::print("{} against {}: {} disagreements\n", session.backend().name, validate, session.disagreements());
  if (session.disagreements() > 0) throw RunError("the backends disagree; see `trocar compare` on the recording");
}

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
  AttemptTask task(scene, session, attempt.run.clock);
  Comparison comparison(attempt);
  FrameSums sums;
  // Last, after every other check, because the recorder may replace an older recording.
  SessionRecorder recorder(with_sums(recording_file(command.out), sums), scene, session, gl_description(backends),
                           run_of(attempt));
  catch_interrupts();
  {
    FaultTeller faults;
    Progress progress("record", attempt.log.frames.size());
    while (!interrupted() && !recorder.failed()) {
      const std::optional<FrameClock> clock = rerun.step();
      if (!clock) break;
      recorder.append(session, *clock);
      task.follow(session, *clock);
      comparison.add(sums);
      faults.tell(session.backend_faults());
      progress.advance_to(comparison.frames());
    }
  }
  recorder.close(ending_of(task.task()));
  fmt::print("{} frames, {} touched faces, written to {}\n", comparison.frames(), comparison.touched(), command.out);
  if (interrupted()) return fmt::print("interrupted: the recording ends here and is complete\n");
  comparison.report(task.task());
  require_agreement(session, command.validate);
}

}  // namespace trocar
