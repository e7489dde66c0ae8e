// A station of the lab: which database it uses, and what waits here until the database has it. An attempt is first
// written to the station's own folder and removed from there when the database has it, so nothing is lost when the
// program is killed or the server does not answer.
// Tested in tests/app/lab_station_test.cpp
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/lab/lab_database.hpp"

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

// What happened to the attempts that waited.
struct HandedIn {
  std::size_t added = 0, waiting = 0;
  std::string why;  // the reason why some still wait, one sentence; empty: none does
};

class LabStation {
 public:
  // `database`: an address that is used instead of the settings'; empty: that of the settings. Throws InputError for
  // damaged settings.
  explicit LabStation(LabPlaces places, const std::string& database = {});

  const std::string& address() const { return address_; }
  // Opens the database. Throws the errors of LabDatabase. A reader changes nothing; where no database was made yet, it
  // finds an empty one. A writer makes the database at its usual place, or the one that `database` names.
  LabDatabase open_to_read() const;
  LabDatabase open_to_write() const;
  // Hands in without waiting for a program that keeps the database busy: for those who only want to read.
  void hurry();
  // Makes this the station's database for all later sessions; only the user can read the settings, which may contain a
  // password. Throws the errors of LabDatabase when it cannot be used now.
  void choose(const std::string& address);

  // Notes that an attempt has begun. If the program is killed, the next hand_in() scores the recording.
  void note_begun(const std::string& person, const std::filesystem::path& recording) const;
  // Keeps an attempt at the station and removes the note of its beginning. Throws RunError when the disk is full.
  void keep(const LabAttempt& attempt) const;
  // Scores the recordings of attempts whose program was killed, and keeps these attempts. Throws RunError when the disk
  // is full.
  void finish_begun() const;
  // Hands in what waits. Never throws for a database that does not answer or refuses. It reads no recording, so a
  // thread of its own may run it beside a session.
  HandedIn hand_in_kept() const;
  // Does both.
  HandedIn hand_in() const;
  std::size_t waiting() const;
  // Returns the attempts of a person that wait here; damaged files are left out.
  std::vector<LabAttempt> waiting_of(const std::string& person) const;

 private:
  std::vector<std::filesystem::path> files_ending(const std::string& ending) const;
  bool finish(const std::filesystem::path& note) const;
  bool hand_in(LabDatabase& database, const std::filesystem::path& file) const;

  LabDatabase open_to_hand_in() const;
  bool at_usual_place() const { return address_ == places_.database.string(); }

  LabPlaces places_;
  std::string address_;
  bool named_;  // the address is not that of the settings
  LabPatience patience_;
};

}  // namespace trocar
