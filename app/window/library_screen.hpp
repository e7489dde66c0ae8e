// Shows people and their attempts from the lab's database: a person's attempts, to be opened for replay or report, and
// the scores of several people at a task, one colour each. A database that fails or does not answer is a sentence on
// the screen.   Driven in tests/app/window_lab_test.sh and tests/app/window_database_test.sh
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/lab/lab_attempt.hpp"
#include "app/window/library_desk.hpp"
#include "app/window/screen.hpp"

namespace trocar {

class LibraryScreen final : public Screen {
 public:
  explicit LibraryScreen(const LabStation& station);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
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
  void attempt_table();
  void sort_attempts();
  void curves() const;
  Ask buttons();
  void write_report_page();

  std::string address_;  // of the database, without a password
  LibraryDesk desk_;
  LibraryQuestion question_;          // the newest; its answer may still be missing
  std::set<std::string> picked_;      // who is to be compared
  std::vector<LabAttempt> attempts_;  // of the selected person and task, as the table sorts them
  std::string note_, attempt_;        // attempt_: key of the selected one; empty: none
  OwnRecording own_;                  // of the selected attempt
  std::filesystem::path recording_, report_;
  std::size_t taken_ = 0;  // answers
  bool sort_again_ = false;
  bool escape_ = false;
};

}  // namespace trocar
