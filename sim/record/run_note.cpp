#include "sim/record/run_note.hpp"

#include <algorithm>
#include <iterator>

namespace trocar {
namespace {

constexpr std::string_view kActivityNames[] = {"attempt", "demonstration", "replay", "script"};
constexpr std::string_view kEndingNames[] = {"unknown", "done", "not done", "stopped"};

}  // namespace

std::string_view name_of(Activity activity) { return kActivityNames[static_cast<std::size_t>(activity)]; }

std::string_view name_of(Ending ending) { return kEndingNames[static_cast<std::size_t>(ending)]; }

Ending ending_of(const TaskRun* task) {
  if (!task || !task->feed().finished) return Ending::Stopped;
  return task->feed().done ? Ending::Done : Ending::NotDone;
}

std::optional<Activity> activity_named(std::string_view name) {
  const auto found = std::find(std::begin(kActivityNames), std::end(kActivityNames), name);
  if (found == std::end(kActivityNames)) return {};
  return static_cast<Activity>(found - std::begin(kActivityNames));
}

}  // namespace trocar
