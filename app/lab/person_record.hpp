// What is known of a person now: the attempts in the database, and those that wait at this station. Asked in a thread
// of its own, because a server may take seconds to answer.   Tested in tests/app/lab_desk_test.cpp
#pragma once

#include <string>
#include <vector>

#include "app/lab/lab_station.hpp"

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

}  // namespace trocar
