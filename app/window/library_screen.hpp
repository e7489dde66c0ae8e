// Shows people and their attempts from the lab's database: a person's attempts, to be opened for replay or report, and
// the scores of several people at a task, one colour each.   Driven in tests/app/window_lab_test.sh
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_station.hpp"
#include "app/lab/own_recording.hpp"
#include "app/window/screen.hpp"

namespace trocar {

class LibraryScreen final : public Screen {
 public:
  // Opens the database, in a thread of its own, because a server may take seconds to answer. If that fails, the screen
  // shows the error message. `station` must outlive the screen.
  explicit LibraryScreen(const LabStation& station);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;

  const std::filesystem::path& recording() const { return recording_; }

 private:
  // A person on the left; picked people are compared.
  struct Listed {
    PersonSummary summary;
    bool picked = false;
  };
  struct Curve {
    std::string person;
    std::vector<double> scores;  // oldest first
  };

  void note_opened();
  void search();
  void select(std::size_t person);
  void choose_attempt(std::size_t attempt);
  void choose_task(const std::string& scene, int level);
  void compare();
  void people_list();
  void mark_compared(const std::string& person) const;
  void task_choice();
  void attempt_table();
  void sort_attempts();
  void curves() const;
  Ask buttons();
  void write_report_page();

  const LabStation& station_;
  std::future<LabDatabase> opening_;
  std::optional<LabDatabase> lab_;
  std::vector<Listed> people_;
  std::vector<LabAttempt> attempts_;  // of the selected person and task
  std::vector<Standing> standings_;   // of the selected person
  std::vector<Curve> curves_;
  std::string part_, scene_, fault_, note_;
  OwnRecording own_;  // of the selected attempt
  std::filesystem::path recording_, report_;
  std::optional<std::size_t> selected_, attempt_;
  int level_ = 1;
  bool comparing_ = false, escape_ = false;
};

}  // namespace trocar
