// Turns rows of the lab's tables into structures. Includes SOCI: only for .cpp files of this folder.
// Tested through tests/app/lab_database_test.cpp
#pragma once

#include <soci/soci.h>

#include <stdexcept>
#include <string>

#include "app/lab/lab_address.hpp"
#include "app/lab/lab_database.hpp"

namespace trocar::lab_rows {

// A row that cannot be read: which, and why. Its text ends a sentence.
class RowFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The columns that the functions below take, from these tables; with SQLite, which keeps values of any type in any
// column, the last one says whether the types are right.
std::string select_attempt(LabEngine engine);
std::string select_person(LabEngine engine);
std::string select_summary(LabEngine engine);  // FROM person p
std::string select_standing(LabEngine engine);

// The condition of a query, whose parameters are :person, :scene and :level. It names all of them.
std::string where_of(const AttemptQuery& query);

// All of these throw RowFault for a row whose values are missing, of a wrong type or not valid.
LabAttempt attempt_of(const soci::row& row);
Person person_of(const soci::row& row);
PersonSummary summary_of(const soci::row& row);
Standing standing_of(const soci::row& row);

}  // namespace trocar::lab_rows
