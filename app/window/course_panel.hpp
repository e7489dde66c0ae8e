// Shows a person's progress in the curriculum: a row for each step with its state, passes and best score.
// Driven in tests/app/window_lab_test.sh
#pragma once

#include <optional>
#include <string>

#include "app/lab/lab_desk.hpp"
#include "app/window/scene_shelf.hpp"

namespace trocar {

class CoursePanel {
 public:
  // Draws the steps into the current panel; returns the step that the user selects in this frame. `selected`: the step
  // to which the chosen scene and level belong.
  std::optional<std::size_t> draw(const LabDesk& desk, const std::optional<std::size_t>& selected);
  // Scrolls to the selected step in the next frame.
  void reveal() { reveal_ = true; }

 private:
  bool row(const CourseView& view, std::size_t step, bool selected);

  CardFocus focus_;
  bool reveal_ = false;
};

// "3 of 27 steps passed. Next: Follow the curve." Of a person; also that the database does not answer.
std::string progress_line(const LabDesk& desk);

// Draws what the curriculum asks at a step, and where the person stands; nothing before the database has answered.
void draw_step(const LabDesk& desk, std::size_t step);

}  // namespace trocar
