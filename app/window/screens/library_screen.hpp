// Shows people and their attempts from the lab's database: a person's attempts, to be opened for replay or report, with
// comments; learning curves at a task, of the score or another metric, one colour for each person. A database that
// fails or does not answer is a sentence on the screen.   Units: seconds.   Tested in tests/app/window_test.cpp; driven
// in tests/app/window_lab_test.sh and window_database_test.sh
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_curve.hpp"
#include "app/lab/lab_station.hpp"
#include "app/window/screen.hpp"
#include "gpu_collision/gl_context.hpp"
#include "sim/support/task.hpp"

namespace trocar {

struct LibraryQuestion {
  std::string part = {};                   // of ids and names; empty: everybody
  std::string person = {};                 // who is selected; empty: the first one found
  std::string scene = {};                  // empty: all tasks
  int level = 1;                           // of the scene
  std::string metric = {};                 // of the curves, as in LabCurve; empty: the score
  std::vector<std::string> compared = {};  // who is compared with the selected person

  bool operator==(const LibraryQuestion&) const = default;
};

struct LibraryAnswer {
  struct Curve {
    std::string person;
    LabCurve values;
  };

  LibraryQuestion question;  // with the person who is selected; empty: no person was found
  std::vector<PersonSummary> people;
  std::vector<LabAttempt> attempts;  // of the person and the task, newest first
  std::vector<LabComment> comments;  // at attempts of the person, oldest first
  std::vector<Standing> standings;   // of the person
  std::vector<std::string> titles;   // [standing] of its scene
  std::vector<Curve> curves;         // of a task: of the person, then of those who are compared
  std::vector<std::string> metrics;  // beside the score, of which there are curves
};

// Asks the lab's database for what the library shows, in a thread of its own, because a server may take seconds or
// never answer. The newest question counts: those that came meanwhile are not asked. Each question opens the database,
// so that a file that was replaced is noticed.
class LibraryDesk {
 public:
  explicit LibraryDesk(const LabStation& station, Curriculum curriculum = {})
      : station_(station), curriculum_(std::move(curriculum)) {}

  // Asks after `patience`, which a further question begins again. Never waits.
  void ask(LibraryQuestion question, double patience = 0.0);
  // Asks the last question again, after a fault.
  void ask_again() { ask(asked_); }
  // Writes a comment, and then asks the last question again. Never waits.
  void write(const LabComment& comment);
  bool writing() const { return writing_.busy(); }
  // Why the last comment was not written; empty: it was.
  const std::string& write_fault() const { return write_fault_; }
  // Takes the answer, if there is one. Call once a frame; `elapsed` since the last call. Never waits.
  void step(double elapsed);

  // Whether there is a question without an answer.
  bool asking() const { return next_ || task_.busy(); }
  std::size_t answers() const { return answers_; }  // so far
  const LibraryAnswer& answer() const { return answer_; }
  const std::string& fault() const { return fault_; }  // why there is no answer to the last question; empty: there is

 private:
  LabStation station_;
  Curriculum curriculum_;
  Task<LibraryAnswer> task_;
  Task<bool> writing_;
  std::string write_fault_;
  std::optional<LibraryQuestion> next_;
  LibraryQuestion asked_;
  double patience_ = 0.0;
  LibraryAnswer answer_;
  std::string fault_;
  std::size_t answers_ = 0;
};

class LibraryScreen final : public Screen {
 public:
  // `context` must outlive the screen: it draws the pictures of reports. `curriculum`: of the pass lines. `technical`:
  // names the database. `person`: who is shown first; empty: who practised last.
  LibraryScreen(const LabStation& station, const Curriculum& curriculum, GlContext* context, bool technical = false,
                const std::string& person = {});

  void step(const WindowInput& input, double elapsed, bool listens) override;
  Ask panels() override;
  ScreenStatus status() const override;

  const std::filesystem::path& recording() const { return recording_; }

 private:
  void ask(double patience = 0.0);
  void search();
  void select(const std::string& person);
  void choose_attempt(const LabAttempt& attempt);
  void choose_task(const std::string& scene, int level);
  void pick(const std::string& person, bool picked);
  void take_answer();
  bool up_to_date() const;
  const LabAttempt* attempt() const;
  Ask fault_panel();
  void people_list();
  void person_side();
  void mark_compared(const std::string& person) const;
  void task_choice();
  void metric_choice();
  void attempt_table();
  void sort_attempts();
  void curves() const;
  Ask buttons();
  Ask lists();
  std::vector<LabComment> comments_at(const std::string& key) const;
  void comment_panel();

  GlContext* context_;
  std::string address_;  // of the database, without a password; empty: it is not shown
  LibraryDesk desk_;
  LibraryQuestion question_;          // the newest; its answer may still be missing
  std::set<std::string> picked_;      // who is to be compared
  std::vector<LabAttempt> attempts_;  // of the selected person and task, as the table sorts them
  std::string note_, attempt_;        // attempt_: key of the selected one; empty: none
  OwnRecording own_;                  // of the selected attempt
  std::filesystem::path recording_, report_;
  std::string author_, comment_;  // text fields
  std::string comment_fault_;
  bool commenting_ = false;  // the panel of the comments is open
  bool sent_ = false;        // what is typed there is being written
  std::size_t taken_ = 0;    // answers
  bool sort_again_ = false;
  bool escape_ = false;
};

}  // namespace trocar
