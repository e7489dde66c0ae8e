// What a recording says about the run that it holds, beside its frames: who, what kind of run, and how it ended.
// Tested in tests/sim/run_note_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/task/task_run.hpp"

namespace trocar {

// The time that scores use: the simulated time of the ticks, or the wall time of a live attempt.
enum class ScoreClock { Tick, Wall };

// What moved the instruments: a person's hands, a scripted trainee who shows a task, recorded motion, a script or
// another program. Only an Attempt counts for a person.
enum class Activity : std::uint8_t { Attempt, Demonstration, Replay, Script };

// How a run ended. Unknown: its program was killed, it is still running, or the recording is older. Done: the task was
// completed. NotDone: the task ended without that, by its time limit or a critical error. Stopped: before the task
// ended, or there is no task.
enum class Ending : std::uint8_t { Unknown, Done, NotDone, Stopped };

// Values of RunNote::device.
inline constexpr const char* kPerformerDevice = "performer";
inline constexpr const char* kTrajectoryDevice = "trajectory";
inline constexpr const char* kProgramDevice = "program";

struct RunNote {
  ScoreClock clock = ScoreClock::Tick;
  Activity activity = Activity::Script;
  std::string person = {};  // id of who moved the instruments; empty: no person, or not known
  std::string device = {};  // what moved everything, instead of the scene's devices; empty: these
  // Of an attempt: 32 hexadecimal digits, unique in the world, which stay the same in every copy of the recording.
  std::string attempt_key = {};
};

std::string_view name_of(Activity activity);  // "attempt", "demonstration", "replay", "script"
std::string_view name_of(Ending ending);      // "unknown", "done", "not done", "stopped"
// Returns how a run with this task ends if it ends now. `task`: null without one.
Ending ending_of(const TaskRun* task);
bool is_attempt_key(std::string_view text);
// Returns the key of an attempt that has this content: the same content, the same key.
std::string attempt_key_from(std::string_view content);
// Returns nothing for an unknown name.
std::optional<Activity> activity_named(std::string_view name);

}  // namespace trocar
