// Shows on the results screen what an attempt means for the curriculum: a pass or what it missed, the passes in a row,
// and the step that follows.   Driven in tests/app/window_lab_test.sh
#pragma once

#include <optional>
#include <string>

#include "app/lab/lab_desk.hpp"

namespace trocar {

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

}  // namespace trocar
