// Turns rows of the lab's tables into structures. Includes SOCI: only for .cpp files of this folder.
// Tested through tests/app/lab_database_test.cpp
#pragma once

#include <soci/soci.h>

#include <string>

#include "app/lab/lab_database.hpp"

namespace trocar::lab_rows {

inline constexpr const char* kSelectAttempt =
    "SELECT key, person, station, scene, title, level, kind, ending, devices, started, seconds, score, critical, "
    "version, recording, metrics FROM attempt";

// The condition of a query, whose parameters are :person, :scene and :level. It names all of them.
std::string where_of(const AttemptQuery& query);

LabAttempt attempt_of(const soci::row& row);
Person person_of(const soci::row& row);
PersonSummary summary_of(const soci::row& row);
Standing standing_of(const soci::row& row);

}  // namespace trocar::lab_rows
