// Asks the lab's database for what the library shows, in a thread of its own, because a server may take seconds or
// never answer. The newest question counts: those that came meanwhile are not asked. Each question opens the database,
// so that a file that was replaced is noticed. Units: seconds.   Tested in tests/app/library_desk_test.cpp
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_station.hpp"
#include "sim/support/task.hpp"

namespace trocar {

struct LibraryQuestion {
  std::string part = {};                   // of ids and names; empty: everybody
  std::string person = {};                 // who is selected; empty: the first one found
  std::string scene = {};                  // empty: all tasks
  int level = 1;                           // of the scene
  std::vector<std::string> compared = {};  // who is compared with the selected person

  bool operator==(const LibraryQuestion&) const = default;
};

struct LibraryAnswer {
  struct Curve {
    std::string person;
    std::vector<double> scores;  // oldest first
  };

  LibraryQuestion question;  // with the person who is selected; empty: no person was found
  std::vector<PersonSummary> people;
  std::vector<LabAttempt> attempts;  // of the person and the task, newest first
  std::vector<Standing> standings;   // of the person
  std::vector<Curve> curves;         // of a task: of those who are compared
};

class LibraryDesk {
 public:
  explicit LibraryDesk(const LabStation& station) : station_(station) {}

  // Asks after `patience`, which a further question begins again. Never waits.
  void ask(LibraryQuestion question, double patience = 0.0);
  // Asks the last question again, after a fault.
  void ask_again() { ask(asked_); }
  // Takes the answer, if there is one. Call once a frame; `elapsed` since the last call. Never waits.
  void step(double elapsed);

  // Whether there is a question without an answer.
  bool asking() const { return next_ || task_.busy(); }
  std::size_t answers() const { return answers_; }  // so far
  const LibraryAnswer& answer() const { return answer_; }
  const std::string& fault() const { return fault_; }  // why there is no answer to the last question; empty: there is

 private:
  LabStation station_;
  Task<LibraryAnswer> task_;
  std::optional<LibraryQuestion> next_;
  LibraryQuestion asked_;
  double patience_ = 0.0;
  LibraryAnswer answer_;
  std::string fault_;
  std::size_t answers_ = 0;
};

}  // namespace trocar
