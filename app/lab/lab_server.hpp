// The web pages of the lab: trocar lab serve. The pages are HTML without scripts: the cohort, the instructor's day, a
// person with the curve of the scores, an attempt with its comments, the record of a curriculum for print; every text
// from the database is escaped. A comment is all that they write, and only for this machine.
// Source of the library: cpp-httplib, github.com/yhirose/cpp-httplib   Tested in tests/app/lab_database_test.cpp and
// tests/app/lab_server_test.py
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/lab_curve.hpp"
#include "app/lab/lab_database.hpp"
#include "app/lab/lab_day.hpp"
#include "app/lab/lab_station.hpp"

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

// `now`: date. `curriculum`: of the rows.
std::string day_page(const DayRows& day, const Curriculum& curriculum, double now);

// The record of a person in a curriculum, to be printed and signed. `attempts`: of the person; comments at others are
// left out. `now`: date
std::string record_page(const Person& person, const CourseView& course, std::span<const LabAttempt> attempts,
                        std::span<const LabComment> comments, double now);

struct PersonPage {
  Person person;
  std::vector<Standing> standings;
  std::vector<LabAttempt> attempts;  // newest first
  std::vector<LabComment> comments;  // at attempts of the person, oldest first
  std::string scene;                 // of the curve
  int level = 1;
  LabCurve curve;
  std::vector<std::string> metrics;  // beside the score, of which a curve can be shown
};
std::string person_page(const PersonPage& page);

struct AttemptPage {
  LabAttempt attempt;
  std::vector<LabComment> comments;  // oldest first
  std::string token;                 // that a comment must bring; empty: comments cannot be written
};
std::string attempt_page(const AttemptPage& page);

// What follows a page when rows of the database were left out.
std::string unreadable_note(const std::vector<std::string>& rows);

// `status`: of HTTP. `what`: one sentence.
std::string failure_page(int status, const std::string& what);

// A learning curve as an SVG element of 640 x 240 units. Empty: no attempt with a value.
std::string curve_drawing(const LabCurve& curve);

struct LabServerParams {
  int port = 8042;      // 1..65535; 0: any free one
  bool anyone = false;  // false: this machine only, which may also write comments
  Curriculum curriculum = {};
};

// Serves the pages; `ready` is called with the port when the first page can be fetched. Throws InputError when the port
// is taken.
void serve_lab(const LabStation& station, const LabServerParams& params, const std::function<void(int)>& ready);

}  // namespace trocar
