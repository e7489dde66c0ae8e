// A station of the lab: which database it uses, and what waits here until the database has it. A note says from the
// beginning that an attempt is made, and the attempt is written to the station's own folder when it ends. Both stay
// there until the database has the attempt, so nothing is lost when the program is killed, the server does not answer,
// or the disk of the recording is away. Every attempt has one key, so it is entered once.
// Tested in tests/app/lab_station_test.cpp and lab_attempt_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_database.hpp"
#include "sim/course/curriculum.hpp"

namespace trocar {

// Where a station keeps its files.
struct LabPlaces {
  std::filesystem::path database;  // SQLite, unless the settings name another one
  std::filesystem::path waiting;   // folder: attempts that the database does not have yet
  std::filesystem::path settings;  // lab.toml
};
// Returns the files of the user: trocar/ in $XDG_DATA_HOME (~/.local/share) and $XDG_CONFIG_HOME (~/.config). Throws
// InputError when there is no home folder.
LabPlaces lab_places();

// What still waits, and why.
struct StillWaiting {
  std::size_t count = 0;
  std::vector<std::string> reasons;   // a sentence for each
  std::vector<std::string> given_up;  // a sentence for each note of an attempt that can never be scored
};

// What happened to the attempts that waited.
struct HandedIn {
  std::size_t added = 0, waiting = 0;
  std::vector<std::string> keys;      // of those that were added
  std::vector<std::string> reasons;   // why some still wait, a sentence for each
  std::string why;                    // the first of them in one line; empty: none waits
  std::vector<std::string> given_up;  // StillWaiting::given_up
};

class LabStation {
 public:
  // `database`: an address that is used instead of the settings'; empty: that of the settings. Throws InputError for
  // damaged settings.
  explicit LabStation(LabPlaces places, const std::string& database = {});

  const std::string& address() const { return address_; }
  // Opens the database. Throws the errors of LabDatabase. A reader changes nothing; where no database was made yet, it
  // finds an empty one. A writer makes the usual database, or the one that `database` names.
  LabDatabase open_to_read() const;
  LabDatabase open_to_write() const;
  // Hands in without waiting for a program that keeps the database busy: for those who only want to read.
  void hurry();
  // Makes this the station's database for all later sessions; only the user can read the settings, which may contain a
  // password. Throws the errors of LabDatabase when it cannot be used now.
  void choose(const std::string& address);

  // Notes that an attempt has begun. If the program is killed, the next hand_in() scores the recording. `key`: that of
  // the recording.
  void note_begun(const std::string& key, const std::string& person, const std::filesystem::path& recording) const;
  // Keeps an attempt at the station. Throws RunError when the disk is full.
  void keep(const LabAttempt& attempt) const;
  // Scores the recordings of attempts whose program was killed or that were abandoned, and keeps these attempts.
  // Recordings that a program is writing are left alone. The note of a recording that cannot be read now stays; that of
  // a recording without a complete frame is moved to the folder given_up. Never throws for what the folder has.
  StillWaiting finish_begun() const;
  // Hands in what waits. Never throws for a database that does not answer or refuses. It reads no recording, so a
  // thread of its own may run it beside a session.
  HandedIn hand_in_kept() const;
  // Does both.
  HandedIn hand_in() const;
  std::size_t waiting() const;
  // Returns whether an attempt waits here.
  bool waits(const std::string& key) const;
  // Returns the attempts of a person that wait here; damaged files are left out.
  std::vector<LabAttempt> waiting_of(const std::string& person) const;
  // Removes what waits here of a person who is erased.
  void forget(const std::string& person) const;

 private:
  std::vector<std::filesystem::path> files_ending(const std::string& ending) const;
  void finish(const std::filesystem::path& note, StillWaiting& still) const;
  void score(const std::filesystem::path& note, StillWaiting& still) const;
  void give_up(const std::filesystem::path& note, const std::string& why, StillWaiting& still) const;
  void hand_in(LabDatabase& database, const std::filesystem::path& file, HandedIn& result) const;

  LabDatabase open_to_hand_in() const;
  bool at_usual_place() const { return address_ == places_.database.string(); }

  LabPlaces places_;
  std::string address_;
  bool named_;  // the address is not that of the settings
  LabPatience patience_;
};

struct RetentionRule {
  std::optional<int> last;  // attempts that stay, beside the passes; empty: every recording stays
};
inline constexpr int kMostLast = 100'000;

// The rule of the station, in recordings.toml beside lab.toml. Reading throws InputError for damaged settings; writing
// throws RunError.
RetentionRule read_retention(const LabPlaces& places);
void write_retention(const LabPlaces& places, const RetentionRule& rule);

// Returns whether an attempt is a pass: by the step of the curriculum with its scene and level or, without such a step,
// by ending as done without a critical error.
bool is_pass(const LabAttempt& attempt, const Curriculum& curriculum);

// Returns the attempts whose recordings the rule does not keep, the oldest first. `attempts`: all of one person, in any
// order. A recording that several attempts name stays if one of them keeps it.
std::vector<LabAttempt> superfluous(std::vector<LabAttempt> attempts, const Curriculum& curriculum,
                                    const RetentionRule& rule);

struct Removable {
  LabAttempt attempt;
  std::filesystem::path file;
  std::uint64_t bytes = 0;
};
// Returns the recordings on this machine that the rule does not keep, of everybody, and that surely are what the
// database says.
std::vector<Removable> removable_recordings(LabDatabase& lab, const Curriculum& curriculum, const RetentionRule& rule);
// Removes a recording, unless it is another file or being written by now. Returns whether it was removed.
bool remove_recording(const Removable& recording);

}  // namespace trocar
