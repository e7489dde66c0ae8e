// The start screen's field for the person who practises: an id is typed, or chosen among the people whom the database
// knows.   Driven in tests/app/window_lab_test.sh
#pragma once

#include <string>

#include "app/lab/lab_desk.hpp"

namespace trocar {

class PersonLogin {
 public:
  // Logs `person` in at the desk.
  PersonLogin(LabDesk& desk, std::string person);

  // Draws label, field, list and, below, where the person stands. Returns true when a person has just logged in.
  bool draw();
  // Logs in who is typed: the first time it adds the person to the database.
  void log_in();

  const std::string& person() const { return person_; }  // id; empty: no person is named
  bool valid() const;                                    // the id can be recorded, or is empty

 private:
  bool known_people();

  LabDesk& desk_;
  std::string person_;
};

}  // namespace trocar
