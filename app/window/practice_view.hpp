// Draws the picture of a practice session: organs, instruments, the expert's ghost and the task's marks as the scope
// sees them. Units: seconds, milliseconds.   Driven in tests/app/window_path_test.sh
#pragma once

#include <span>

#include "app/view/session_picture.hpp"
#include "app/window/picture_timer.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/settings.hpp"

namespace trocar {

class PracticeView {
 public:
  PracticeView(GlContext& context, const Practice& practice);

  // `ghosts`: drawn as transparent instruments.
  void draw(Practice& practice, const WindowSettings& settings, std::span<const DrawnTool> ghosts,
            const glm::ivec2& size);
  Quality quality() const { return keeper_.quality(); }

 private:
  SessionPicture picture_;
  QualityKeeper keeper_;
  PictureTimer timer_;
};

}  // namespace trocar
