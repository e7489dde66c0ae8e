#include "app/lab/lab_retention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "app/lab/lab_course.hpp"
#include "app/lab/own_recording.hpp"
#include "mesh/whole_file.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kRetentionFile{"recordings settings", std::uint64_t{1} << 16};
constexpr std::size_t kEverybody = 1'000'000, kEveryAttempt = 1'000'000;

fs::path retention_file(const LabPlaces& places) { return places.settings.parent_path() / "recordings.toml"; }

// Returns the recording of the attempt if it is on this machine and no program is writing it.
std::optional<fs::path> own_file(const LabAttempt& attempt) {
  const OwnRecording own = own_recording(claim_of(attempt));
  if (own.answer != Claimed::Ours || own.live) return {};
  return own.file;
}

}  // namespace

RetentionRule read_retention(const LabPlaces& places) {
  const fs::path file = retention_file(places);
  std::error_code none;
  RetentionRule rule;
  if (!fs::exists(file, none)) return rule;
  TomlTable table = TomlTable::parse(file, read_whole_file(file, kRetentionFile));
  int last = 0;
  if (table.find("keep_last")) {
    table.optional("keep_last", last, {1, kMostLast});
    rule.last = last;
  }
  table.refuse_unknown_keys();
  return rule;
}

void write_retention(const LabPlaces& places, const RetentionRule& rule) {
  const fs::path file = retention_file(places);
  make_private_folder(file.parent_path());
  WholeFile out(file);
  out.stream() << "# Which recordings of attempts stay at this station; without keep_last: all\n";
  if (rule.last) out.stream() << fmt::format("keep_last = {}\n", *rule.last);
  out.commit();
}

bool is_pass(const LabAttempt& attempt, const Curriculum& curriculum) {
  const CourseAttempt entered = course_attempt(attempt);
  bool is_step = false;
  for (const CourseStep& step : curriculum.steps) {
    if (step.level != attempt.level || scene_key(step.scene) != attempt.scene) continue;
    is_step = true;
    if (missed_criteria(step, entered).empty()) return true;
  }
  return !is_step && attempt.ending == name_of(Ending::Done) && !attempt.critical;
}

std::vector<LabAttempt> superfluous(std::vector<LabAttempt> attempts, const Curriculum& curriculum,
                                    const RetentionRule& rule) {
  if (!rule.last) return {};
  std::ranges::sort(attempts, [](const LabAttempt& a, const LabAttempt& b) {
    return std::tie(b.started, b.key) < std::tie(a.started, a.key);  // newest first
  });
  std::map<std::pair<std::string, int>, int> newer;  // attempts at this level of the task
  std::set<std::string> kept;                        // recordings
  std::vector<LabAttempt> others;
  for (LabAttempt& attempt : attempts) {
    const bool among_last = newer[{attempt.scene, attempt.level}]++ < *rule.last;
    if (among_last || is_pass(attempt, curriculum))
      kept.insert(attempt.recording);
    else
      others.push_back(std::move(attempt));
  }
  std::erase_if(others, [&](const LabAttempt& attempt) { return kept.contains(attempt.recording); });
  std::ranges::reverse(others);
  return others;
}

std::vector<Removable> removable_recordings(LabDatabase& lab, const Curriculum& curriculum, const RetentionRule& rule) {
  std::vector<Removable> found;
  if (!rule.last) return found;
  for (const PersonSummary& person : lab.people({.most = kEverybody})) {
    const auto attempts = lab.attempts({.person = person.person.id, .most = kEveryAttempt});
    for (LabAttempt& attempt : superfluous(attempts, curriculum, rule)) {
      const auto file = own_file(attempt);
      if (!file) continue;
      std::error_code error;
      const auto bytes = fs::file_size(*file, error);
      if (!error) found.push_back({std::move(attempt), *file, bytes});
    }
  }
  return found;
}

bool remove_recording(const Removable& recording) {
  std::error_code error;
  return own_file(recording.attempt) && fs::remove(recording.file, error);
}

}  // namespace trocar
