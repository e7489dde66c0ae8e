// Shows the results screen after an attempt: score, events, metrics, what it means for the curriculum, and the next
// steps. The metrics equal those of `trocar score`.   Driven in tests/app/window_path_test.sh and window_lab_test.sh
#pragma once

#include <optional>
#include <string>

#include "app/lab/lab_desk.hpp"
#include "app/lab/lab_station.hpp"
#include "app/window/replay/film_maker.hpp"
#include "app/window/screen.hpp"
#include "gpu_collision/gl_context.hpp"
#include "sim/score/attempt.hpp"
#include "sim/support/task.hpp"

namespace trocar {

// Shows what an attempt means for the curriculum: a pass or what it missed, the passes in a row, the step that follows.
class OutcomePanel {
 public:
  // `desk` must outlive the panel.
  explicit OutcomePanel(const LabDesk& desk) : desk_(desk) {}

  // Sets the attempt, whose person must be logged in at the desk.
  void set(LabAttempt attempt);
  // Computes the outcome when the attempt is new or the database has answered. Call once a frame.
  void step();
  // Draws the outcome; nothing for an attempt that belongs to no step.
  void draw() const;

  // Returns the step to go on with when the attempt has completed its step; nothing otherwise.
  std::optional<std::size_t> next() const;
  // "pass: 2 of 3 in a row", "not a pass: ...", "step passed"; empty: the attempt belongs to no step.
  std::string text() const;

 private:
  std::string verdict() const;

  const LabDesk& desk_;
  std::optional<LabAttempt> attempt_;
  std::optional<StepOutcome> outcome_;
  std::optional<std::size_t> seen_;  // answers of the desk from which outcome_ was computed
};

class ResultsScreen final : public Screen {
 public:
  // Shows the results of an attempt and, if it names a person, hands it in. `recording`: its file, which must be
  // closed; `cut_short`: why it ended before the attempt did, empty: it did not. `station`, `desk`, `films` and
  // `context` must outlive the screen; who practised is logged in at the desk.
  ResultsScreen(std::filesystem::path recording, std::string cut_short, const LabStation& station, LabDesk& desk,
                FilmMaker& films, GlContext* context);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  Ask panels() override;
  ScreenStatus status() const override;

  const std::filesystem::path& recording() const { return recording_; }
  // Returns the step of the curriculum that follows; nothing unless the attempt has completed its step.
  std::optional<std::size_t> next_step() const { return outcome_.next(); }
  // Returns the time of the event that was pressed last: s, on the clock of the score. Empty: none since the results
  // are shown, or Replay was pressed.
  const std::optional<double>& event() const { return event_; }

 private:
  void measure();
  void keep(const Recording& recording);
  void note_handed_in();
  void score_column();
  void event_list(bool errors);
  void metric_column() const;
  Ask buttons();
  void open_report();

  const LabStation& station_;
  LabDesk& desk_;
  FilmMaker& films_;
  GlContext* context_;
  OutcomePanel outcome_;
  std::filesystem::path recording_, report_;
  std::optional<Attempt> attempt_;
  std::string cut_short_;
  std::string fault_, note_, kept_;  // kept_: what became of the attempt
  std::string key_;                  // of the attempt, once it is kept
  std::string opened_;               // id of the part whose reason is shown; empty: none
  std::optional<double> event_;
  bool event_pressed_ = false;
  bool all_ = false;  // every measure and event is shown, not only what a trainee reads first
  Task<HandedIn> handing_in_;
  int shown_ = 0;  // frames
  bool escape_ = false;
};

// Writes the report of a recording beside it, with the pictures of its events where there is a context. Returns what to
// tell the user; `page`: the page, unless that failed.
std::string write_report_page(const std::filesystem::path& recording, GlContext* context, std::filesystem::path& page);

// Formats the value, for example "12.3 mm"; "–" for an undefined value.
std::string value_text(const Metric& metric);

}  // namespace trocar
