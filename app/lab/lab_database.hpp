// The lab's database: people, their attempts with comments, and where they stand. SQLite in a file, or a PostgreSQL
// server. Every change is one transaction; several programs and machines may use the database at once. Units: seconds;
// dates are seconds since 1970 (UTC).   Source of the library: SOCI, github.com/SOCI/soci Tested in
// tests/app/lab_database_test.cpp, with both
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/lab_address.hpp"
#include "app/lab/lab_attempt.hpp"
#include "geometry/error.hpp"

namespace trocar {

// The database cannot be reached now: attempts wait at the station.
class LabUnreachable : public RunError {
  using RunError::RunError;
};

struct Person {
  std::string id, name;  // `name` may be empty
  double added = 0.0;    // date
};

// The attempts of a person at a level of a task. Scores: 0 to 100; empty without a task.
struct Standing {
  std::string person, scene;
  int level = 1;
  std::uint64_t attempts = 0;
  std::optional<double> best, last;
  double last_started = 0.0;  // date
};

constexpr std::size_t kAllRows = 1'000'000;

// What attempts() returns, newest first. Empty texts: of everybody, of every scene.
struct AttemptQuery {
  std::string person = {}, scene = {};
  std::optional<int> level = {};
  std::size_t most = 100, skip = 0;
};

// A person of a list, with a sum over all tasks.
struct PersonSummary {
  Person person;
  std::uint64_t attempts = 0, tasks = 0;  // `tasks`: tasks and levels tried
  double last_started = 0.0;              // date; 0: never
};
enum class PersonOrder { Id, LastAttempt };
struct PersonQuery {
  std::string part = {};  // of id or name; empty: everybody
  PersonOrder order = PersonOrder::Id;
  std::size_t most = 100, skip = 0;
};

struct LabCounts {
  std::uint64_t people = 0, attempts = 0;
};

// What an instructor writes at an attempt.
struct LabComment {
  std::string key;       // 32 hexadecimal digits, unique in the world
  std::string attempt;   // key
  std::string author;    // id of a person; empty: the author was erased
  double written = 0.0;  // date
  std::string text;      // lines
};
constexpr std::size_t kLongestComment = 4000;  // characters

// Returns a comment of now. Line ends become those of this machine, and spaces around the text are left out. Throws
// InputError for an author that is not an id, and for a text that is empty, too long, or not text.
LabComment made_comment(const std::string& attempt, const std::string& author, const std::string& text);

// How a database is opened. A writer upgrades the tables of an earlier version; a reader takes them as they are.
enum class LabUse {
  Read,    // takes no write lock and changes nothing
  Write,   // a file must exist
  Create,  // writes; a file that does not exist is made, in a folder that exists
  Fill     // writes a new, empty file of the caller, which no other program knows
};

// The longest waits.
struct LabPatience {
  std::chrono::milliseconds busy{10000};      // for another program that writes a SQLite file
  std::chrono::milliseconds lock{4000};       // for a lock of another program on a server
  std::chrono::milliseconds statement{8000};  // for one statement of a server
  std::chrono::milliseconds silence{10000};   // for a server that says nothing
};

class LabDatabase {
 public:
  // Opens a database. `address`: a path, "sqlite:PATH" or "postgresql://...". Throws LabUnreachable when a server does
  // not answer or another program keeps the database busy, InputError when the address or the file is not usable, is
  // not a database of Trocar, or has the tables of another version.
  explicit LabDatabase(const std::string& address, LabUse use = LabUse::Create, const LabPatience& patience = {});
  // Returns an empty database in memory: what a reader finds where no database was made yet.
  static LabDatabase empty();
  ~LabDatabase();
  LabDatabase(LabDatabase&&) noexcept;
  LabDatabase& operator=(LabDatabase&&) noexcept;

  // All of these throw LabUnreachable when the server does not answer or the database is busy, RunError when the
  // database refuses (a full disk), InputError when it is damaged. Rows that cannot be read are left out.

  // The rows that were left out since the database was opened, each once, as the end of a sentence: "attempt 'KEY' of
  // person 'ID': its metrics are damaged".
  const std::vector<std::string>& unreadable() const;

  // Throws InputError when the id is taken or cannot be used.
  void add_person(const Person& person);
  // Returns false, and changes nothing, when the id is taken.
  bool add_if_new(const Person& person);
  // Throws RunError when the row of this person cannot be read.
  std::optional<Person> person(const std::string& id);
  std::vector<PersonSummary> people(const PersonQuery& query = {});
  // Deletes a person with all attempts and returns these. Comments that this person wrote at attempts of others lose
  // their author. Throws InputError for an unknown id.
  std::vector<LabAttempt> erase_person(const std::string& id);

  // Adds an attempt, and its person if no person has that id. Returns false when the attempt is there already.
  bool add_attempt(const LabAttempt& attempt);
  // Adds many in one transaction and returns the number of those that were not there already.
  std::size_t add_attempts(std::span<const LabAttempt> attempts);
  std::optional<LabAttempt> attempt(const std::string& key);
  std::vector<LabAttempt> attempts(const AttemptQuery& query = {});
  // Deletes an attempt with its comments. Throws InputError for an unknown key.
  void delete_attempt(const std::string& key);

  // Adds comments in one transaction and returns the number of those that were not there already. Throws InputError for
  // an unknown attempt.
  std::size_t add_comments(std::span<const LabComment> comments);
  // Returns the comments at the attempts of a person, the oldest first.
  std::vector<LabComment> comments_of(const std::string& person);

  // Returns the standings of a person, or of everybody at a task, sorted by person, scene, level. Empty texts: all.
  std::vector<Standing> standings(const std::string& person, const std::string& scene);

  LabCounts counts();
  // Calls for each person, each attempt and, if it is given, each comment, as they are at one instant.
  void for_each(const std::function<void(const Person&)>& person, const std::function<void(const LabAttempt&)>& attempt,
                const std::function<void(const LabComment&)>& comment = {});

  // Lets only its owner read the file of a SQLite database, if this is the user.
  void make_private() const;

  int version() const;                       // of the tables
  const std::string& shown_address() const;  // without a password

 private:
  struct Content;
  explicit LabDatabase(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
