#include "app/lab/lab_station.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>

#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_course.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/process.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kSettingsFile{"lab settings", std::uint64_t{1} << 16};
constexpr FileKind kWaitingFile{"attempt", std::uint64_t{1} << 20};
constexpr const char* kAttemptEnding = ".attempt.json";
constexpr const char* kBegunEnding = ".begun.json";
constexpr const char* kGivenUp = "given_up";  // folder in the folder of what waits

// Returns $NAME, or a folder of the home folder.
fs::path user_folder(const char* name, const char* below_home) {
  const char* given = std::getenv(name);
  if (given && fs::path(given).is_absolute()) return given;
  const char* home = std::getenv("HOME");
  const passwd* user = home && *home ? nullptr : ::getpwuid(::getuid());
  if (user) home = user->pw_dir;
  if (!home || !*home) throw InputError(fmt::format("neither HOME nor {} is set; set one of them", name));
  return fs::path(home) / below_home;
}

void write_file(const fs::path& file, const std::string& text) {
  make_private_folder(file.parent_path());
  WholeFile out(file, FileReaders::Owner);
  out.stream() << text;
  out.commit();
}

// What a note of an attempt's beginning says. Notes of earlier versions have no key and no station.
struct Begun {
  std::string key, person, station, recording;
};

Begun begun_in(const fs::path& note) {
  const std::string text = read_whole_file(note, kWaitingFile);
  Begun begun;
  try {
    const auto json = nlohmann::json::parse(text);
    begun.person = json.at("person").get<std::string>();
    begun.recording = json.at("recording").get<std::string>();
    begun.key = json.value("key", std::string());
    begun.station = json.value("station", host_name());
  } catch (const nlohmann::json::exception&) {
    throw InputError(note.string() + ": is damaged; it is not a note that Trocar wrote, so remove it");
  }
  if (!name_fault(begun.person).empty() || (!begun.key.empty() && !is_attempt_key(begun.key)))
    throw InputError(note.string() + ": has no person or no key that Trocar wrote, so remove it");
  return begun;
}

std::string begun_text(const Begun& begun) {
  return nlohmann::ordered_json{
             {"key", begun.key}, {"person", begun.person}, {"station", begun.station}, {"recording", begun.recording}}
             .dump() +
         "\n";
}

fs::path begun_file(const fs::path& folder, const std::string& key) { return folder / (key + kBegunEnding); }
fs::path attempt_file(const fs::path& folder, const std::string& key) { return folder / (key + kAttemptEnding); }

bool is_there(const fs::path& file) {
  std::error_code none;
  return fs::symlink_status(file, none).type() != fs::file_type::not_found;
}

// At most three sentences of a list, in one line.
std::string joined(const std::vector<std::string>& reasons) {
  constexpr std::size_t kShown = 3;
  const std::size_t shown = std::min(kShown, reasons.size());
  std::string text = fmt::format("{}", fmt::join(std::span(reasons).first(shown), "; "));
  if (reasons.size() > shown) text += fmt::format("; and {} more", reasons.size() - shown);
  return text;
}

// Also of a recording that has no complete frame yet.
bool in_progress(const fs::path& recording) {
  const int descriptor = ::open(recording.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool busy = ask_recording_lock(descriptor) == LockAnswer::Busy;
  ::close(descriptor);
  return busy;
}

}  // namespace

LabPlaces lab_places() {
  const fs::path data = user_folder("XDG_DATA_HOME", ".local/share") / "trocar";
  return {data / "lab.sqlite", data / "waiting", user_folder("XDG_CONFIG_HOME", ".config") / "trocar" / "lab.toml"};
}

LabStation::LabStation(LabPlaces places, const std::string& database)
    : places_(std::move(places)), address_(database), named_(!database.empty()) {
  std::error_code none;
  if (!address_.empty()) return;
  address_ = places_.database.string();
  if (!fs::exists(places_.settings, none)) return;
  TomlTable settings = TomlTable::parse(places_.settings, read_whole_file(places_.settings, kSettingsFile));
  settings.optional("database", address_);
  address_ = bytes_of_text(address_);
  try {
    lab_address(address_);
  } catch (const InputError& error) {
    settings.fail("database", error.what());
  }
  settings.refuse_unknown_keys();
}

// A file is named by its whole path, because later programs start in other folders.
void LabStation::choose(const std::string& address) {
  const LabAddress read = lab_address(address);
  const auto absolute = read.engine == LabEngine::Sqlite ? fs::absolute(read.target).string() : address;
  const LabDatabase database(absolute, LabUse::Create);
  write_file(places_.settings, fmt::format("database = {}\n", quoted_text(absolute)));
  address_ = absolute;
  named_ = false;
}

LabDatabase LabStation::open_to_read() const {
  if (std::error_code none; at_usual_place() && !fs::exists(places_.database, none)) return LabDatabase::empty();
  LabDatabase database(address_, LabUse::Read, patience_);
  database.make_private();
  return database;
}

LabDatabase LabStation::open_to_write() const {
  if (at_usual_place()) make_private_folder(places_.database.parent_path());
  return LabDatabase(address_, named_ || at_usual_place() ? LabUse::Create : LabUse::Write, patience_);
}

// A database that is not there may be on a disk that is away: a new one would take the attempts.
LabDatabase LabStation::open_to_hand_in() const {
  return at_usual_place() ? open_to_write() : LabDatabase(address_, LabUse::Write, patience_);
}

void LabStation::hurry() { patience_.busy = std::chrono::milliseconds(300); }

void LabStation::note_begun(const std::string& key, const std::string& person, const fs::path& recording) const {
  write_file(begun_file(places_.waiting, key),
             begun_text({key, person, host_name(), text_of_bytes(fs::absolute(recording).string())}));
}

void LabStation::keep(const LabAttempt& attempt) const {
  write_file(attempt_file(places_.waiting, attempt.key), lab_attempt_json(attempt));
}

std::vector<fs::path> LabStation::files_ending(const std::string& ending) const {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(places_.waiting, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().string().ends_with(ending)) files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::size_t LabStation::waiting() const { return files_ending(kAttemptEnding).size(); }

std::vector<LabAttempt> LabStation::waiting_of(const std::string& person) const {
  std::vector<LabAttempt> attempts;
  for (const fs::path& file : files_ending(kAttemptEnding)) try {
      LabAttempt attempt = lab_attempt_of_json(read_whole_file(file, kWaitingFile), file);
      if (attempt.person == person) attempts.push_back(std::move(attempt));
    } catch (const InputError&) {
      // Handed in by another program meanwhile, or damaged: hand_in() reports it.
    }
  return attempts;
}

void LabStation::give_up(const fs::path& note, const std::string& why, StillWaiting& still) const {
  const fs::path folder = places_.waiting / kGivenUp;
  make_private_folder(folder);
  std::error_code error;
  fs::rename(note, folder / note.filename(), error);
  if (error) return;  // another program was faster
  still.given_up.push_back(fmt::format("{}; its attempt cannot be scored, and its note is now {}", why,
                                       (folder / note.filename()).string()));
}

// Scores the recording of a program that was killed. While a program is writing it nothing happens. The note stays
// until the database has the attempt, under the name of its key.
void LabStation::score(const fs::path& note, StillWaiting& still) const {
  const Begun begun = begun_in(note);
  if (waits(begun.key)) return;
  const OwnRecording own = own_recording({begun.recording, begun.station, begun.person, begun.key});
  if (own.answer != Claimed::Ours)
    throw InputError(fmt::format("{}: {}; the attempt of {} is given up when {} is removed",
                                 printable(own.file.string(), kLongestText), own.why, printable(begun.person),
                                 note.string()));
  if (own.live || in_progress(own.file)) return;
  try {
    recover_recording(own.file);
    const Recording read(own.file);
    const LabAttempt attempt = lab_attempt_of(read, score_recording(read, own.file.string()), begun.person);
    note_begun(attempt.key, begun.person, own.file);
    keep(attempt);
    std::error_code gone;
    if (note != begun_file(places_.waiting, attempt.key)) fs::remove(note, gone);
  } catch (const NoFrames& error) {
    give_up(note, error.what(), still);
  }
}

void LabStation::finish(const fs::path& note, StillWaiting& still) const {
  try {
    score(note, still);
  } catch (const std::exception& error) {
    if (!is_there(note)) return;  // another program has entered it
    ++still.count;
    still.reasons.emplace_back(error.what());
  }
}

StillWaiting LabStation::finish_begun() const {
  StillWaiting still;
  for (const fs::path& note : files_ending(kBegunEnding)) finish(note, still);
  return still;
}

// Hands in one attempt. Another program of this station may be faster.
void LabStation::hand_in(LabDatabase& database, const fs::path& file, HandedIn& result) const {
  if (!is_there(file)) return;
  const LabAttempt attempt = lab_attempt_of_json(read_whole_file(file, kWaitingFile), file);
  if (database.add_attempt(attempt)) result.keys.push_back(attempt.key);
  std::error_code gone;
  fs::remove(file, gone);
  fs::remove(begun_file(places_.waiting, attempt.key), gone);
}

HandedIn LabStation::hand_in() const {
  const StillWaiting still = finish_begun();
  HandedIn result = hand_in_kept();
  result.reasons.insert(result.reasons.end(), still.reasons.begin(), still.reasons.end());
  result.why = joined(result.reasons);
  result.waiting += still.count;
  result.given_up = still.given_up;
  return result;
}

HandedIn LabStation::hand_in_kept() const {
  constexpr int kMostRefusals = 2;  // a database that refuses two attempts refuses all: its disk is full
  HandedIn result;
  std::vector<std::string>& reasons = result.reasons;
  try {
    const auto files = files_ending(kAttemptEnding);
    if (files.empty()) return result;
    LabDatabase database = open_to_hand_in();
    int refusals = 0;
    for (const fs::path& file : files) try {
        hand_in(database, file, result);
        refusals = 0;
      } catch (const InputError& error) {
        if (is_there(file)) reasons.emplace_back(error.what());  // a damaged file; the others follow
      } catch (const LabUnreachable&) {
        throw;
      } catch (const RunError& error) {
        reasons.emplace_back(error.what());
        if (++refusals == kMostRefusals) break;
      }
  } catch (const std::exception& error) {
    reasons.emplace_back(error.what());
  }
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  result.added = result.keys.size();
  result.why = joined(reasons);
  result.waiting = waiting();
  return result;
}

bool LabStation::waits(const std::string& key) const {
  return !key.empty() && is_there(attempt_file(places_.waiting, key));
}

void LabStation::forget(const std::string& person) const {
  const auto names = [&](const fs::path& file) {
    try {
      const auto json = nlohmann::json::parse(read_whole_file(file, kWaitingFile));
      return json.is_object() && json.value("person", std::string()) == person;
    } catch (const std::exception&) {
      return false;  // damaged
    }
  };
  std::error_code error;
  for (const fs::path& folder : {places_.waiting, places_.waiting / kGivenUp}) {
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".json" && names(entry->path())) files.push_back(entry->path());
    for (const fs::path& file : files) fs::remove(file, error);
  }
}

namespace {

namespace fs = std::filesystem;

constexpr FileKind kRetentionFile{"recordings settings", std::uint64_t{1} << 16};

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
  return !is_step && attempt.ending == name_of(Ending::Done) && !attempt.critical && !is_practice(entered);
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
  for (const PersonSummary& person : lab.people({.most = kAllRows})) {
    const auto attempts = lab.attempts({.person = person.person.id, .most = kAllRows});
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
