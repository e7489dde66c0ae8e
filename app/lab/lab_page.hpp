// Pages of trocar lab serve, as HTML without scripts: the cohort, a task, a person with the curve of the scores. Pure
// functions. Every text from the database is escaped.   Tested in tests/app/lab_page_test.cpp
#pragma once

#include <string>
#include <vector>

#include "app/lab/lab_database.hpp"

namespace trocar {

struct CohortPage {
  std::vector<PersonSummary> people;  // of this page
  std::vector<Standing> standings;    // of these people
  std::string part;                   // that was searched
  std::size_t skip = 0;               // people before this page
  bool more = false;                  // people after it
  LabCounts counts;
};
std::string cohort_page(const CohortPage& page);

struct PersonPage {
  Person person;
  std::vector<Standing> standings;
  std::vector<LabAttempt> attempts;  // newest first
  std::string scene;                 // of the curve; empty: that of the newest attempt
  int level = 1;
};
std::string person_page(const PersonPage& page);

// What follows a page when rows of the database were left out.
std::string unreadable_note(const std::vector<std::string>& rows);

// `status`: of HTTP. `what`: one sentence.
std::string failure_page(int status, const std::string& what);

// The scores of attempts, oldest first, as an SVG element of 640 x 220 units. Empty: no scored attempt.
std::string score_curve(const std::vector<LabAttempt>& attempts);

std::string html_escaped(const std::string& text);

}  // namespace trocar
