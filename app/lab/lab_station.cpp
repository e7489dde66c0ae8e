#include "app/lab/lab_station.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "geometry/printable.hpp"
#include "mesh/whole_file.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_lock.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/checksum.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kSettingsFile{"lab settings", std::uint64_t{1} << 16};
constexpr FileKind kWaitingFile{"attempt", std::uint64_t{1} << 24};
constexpr const char* kAttemptEnding = ".attempt.json";
constexpr const char* kBegunEnding = ".begun.json";

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

std::string quoted_text(const std::string& text) { return nlohmann::json(text).dump(); }

// The note of an attempt's beginning has a name that follows from its recording.
fs::path begun_file(const fs::path& folder, const fs::path& recording) {
  const std::string name = recording.string();
  return folder / fmt::format("{:016x}{}", checksum_of(std::as_bytes(std::span(name))), kBegunEnding);
}

// Also of a recording that has no complete frame yet.
bool in_progress(const fs::path& recording) {
  const int descriptor = ::open(recording.c_str(), O_RDWR | O_CLOEXEC);
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
  settings.refuse_unknown_keys();
}

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

void LabStation::note_begun(const std::string& person, const fs::path& recording) const {
  const fs::path absolute = fs::absolute(recording);
  write_file(begun_file(places_.waiting, absolute),
             nlohmann::json{{"person", person}, {"recording", absolute.string()}}.dump() + "\n");
}

void LabStation::keep(const LabAttempt& attempt) const {
  write_file(places_.waiting / (attempt.key + kAttemptEnding), lab_attempt_json(attempt));
  std::error_code ignored;
  fs::remove(begun_file(places_.waiting, attempt.recording), ignored);
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

// Scores the recording of a program that was killed. Returns false while a program is writing it.
bool LabStation::finish(const fs::path& note) const {
  try {
    const auto json = nlohmann::json::parse(read_whole_file(note, kWaitingFile));
    const fs::path recording = json.at("recording").get<std::string>();
    if (!fs::exists(recording)) return true;
    if (in_progress(recording)) return false;
    recover_recording(recording);
    const Recording read(recording);
    keep(lab_attempt_of(read, score_recording(read, recording.string()), json.at("person").get<std::string>()));
  } catch (const InputError&) {
    // No complete frame, or not a recording any more: there is nothing to score.
  } catch (const nlohmann::json::exception&) {
    // A damaged note.
  }
  return true;
}

void LabStation::finish_begun() const {
  for (const fs::path& note : files_ending(kBegunEnding)) {
    std::error_code gone;
    if (finish(note)) fs::remove(note, gone);
  }
}

// Hands in one attempt. Another program of this station may be faster.
bool LabStation::hand_in(LabDatabase& database, const fs::path& file) const {
  std::error_code gone;
  if (!fs::exists(file, gone)) return false;
  const bool added = database.add_attempt(lab_attempt_of_json(read_whole_file(file, kWaitingFile), file));
  fs::remove(file, gone);
  return added;
}

HandedIn LabStation::hand_in() const {
  try {
    finish_begun();
  } catch (const RunError& error) {
    return {0, waiting(), error.what()};
  }
  return hand_in_kept();
}

HandedIn LabStation::hand_in_kept() const {
  HandedIn result;
  try {
    const auto files = files_ending(kAttemptEnding);
    if (files.empty()) return result;
    LabDatabase database = open_to_hand_in();
    for (const fs::path& file : files) try {
        result.added += hand_in(database, file);
      } catch (const InputError& error) {
        result.why = error.what();  // a damaged file; the others follow
      }
  } catch (const std::runtime_error& error) {
    result.why = error.what();
  }
  result.waiting = waiting();
  return result;
}

}  // namespace trocar
