// The instructor's day: who has practised lately, who is stuck where, and whose attempts a slow machine made practice.
// The same rows as /day of `trocar lab serve`. A person that is pressed is shown with the attempts.
// Tested in tests/app/window_test.cpp; driven in tests/app/window_lab_test.sh
#pragma once

#include <optional>
#include <string>

#include "app/lab/lab_day.hpp"
#include "app/lab/lab_station.hpp"
#include "app/window/screen.hpp"
#include "sim/support/task.hpp"

namespace trocar {

class DayScreen final : public Screen {
 public:
  // Asks the database at once, in a thread of its own. `curriculum`: of the steps.
  DayScreen(const LabStation& station, const Curriculum& curriculum);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  Ask panels() override;
  ScreenStatus status() const override;

  const std::string& person() const { return person_; }  // that was pressed; empty: none

 private:
  void ask();
  void table();
  void row(const DayRow& row);
  void step_cell(const DayRow& row) const;

  LabStation station_;
  Curriculum curriculum_;
  Task<DayRows> asking_;
  std::optional<DayRows> day_;
  std::string fault_, person_;
  bool escape_ = false;
};

}  // namespace trocar
