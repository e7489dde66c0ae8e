// The person who is logged in at this station and that person's progress in a curriculum. The database is asked in a
// thread of its own, because a server may take seconds; until it answers, and when it does not, the progress is what
// this station knows.   Tested in tests/app/lab_attempt_test.cpp
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_course.hpp"
#include "app/lab/lab_station.hpp"
#include "sim/support/task.hpp"

namespace trocar {

struct PersonRecord {
  std::string person;                // id; empty: only the list of people was wanted
  bool known = false;                // the database has this id
  std::vector<LabAttempt> attempts;  // each key once
  std::vector<std::string> people;   // ids, the latest attempt first
  std::string why;  // the database did not answer: the reason; then `attempts` are those that wait here
};

// `add`: a person who is not known is added. Throws nothing but std::bad_alloc.
PersonRecord person_record(const LabStation& station, const std::string& person, bool add);

// Adds the attempts of `more` whose keys are not among those of `attempts`.
void add_unknown(std::vector<LabAttempt>& attempts, const std::vector<LabAttempt>& more);

class LabDesk {
 public:
  // `station` must outlive the desk. `curriculum`: without steps there is no progress.
  LabDesk(const LabStation& station, Curriculum curriculum);

  // Logs a person in; an empty id logs out. `add`: a person who is not known is added to the database.
  void log_in(const std::string& person, bool add);
  // Asks again for the person who is logged in, and for the list of people.
  void refresh();
  // Takes the answer of the database, if there is one. Call once a frame; it never waits.
  void step();

  const std::string& person() const { return person_; }  // id; empty: none is logged in
  const Curriculum& curriculum() const { return curriculum_; }
  // Returns the progress of the person; nothing before the first answer.
  const std::optional<CourseView>& view() const { return view_; }
  // Returns the attempts from which view() was computed.
  const std::vector<LabAttempt>& attempts() const { return attempts_; }
  const std::vector<std::string>& people() const { return people_; }
  // Whether the database has the person; false before the first answer.
  bool known() const { return known_; }
  bool asking() const { return answer_.busy(); }
  // Returns why the database did not answer the last time; empty: it did.
  const std::string& why() const { return why_; }
  // The number of answers so far: a change says that view() may have changed.
  std::size_t answers() const { return answers_; }

 private:
  void ask(bool add);
  void take(PersonRecord record);

  const LabStation& station_;
  Curriculum curriculum_;
  std::string person_, why_;
  std::optional<CourseView> view_;
  std::vector<LabAttempt> attempts_;
  std::vector<std::string> people_;
  Task<PersonRecord> answer_;
  std::size_t answers_ = 0;
  bool known_ = false;
  bool again_ = false, add_ = false;  // ask again, because the person has changed meanwhile
};

}  // namespace trocar
