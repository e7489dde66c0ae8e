// Draws the pictures of a session and its task, one after another.   Tested in
// tests/app/session_picture_test.cpp
#pragma once

#include <optional>
#include <vector>

#include "app/view/view.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

struct SessionLook {
  ViewSettings settings = {};              // with the time of the picture
  const TaskRun* task = nullptr;           // its marks are drawn after the first frame
  std::optional<ScopePose> scope = {};     // instead of the session's
  std::optional<Lens> lens = {};           // instead of the session's
  std::span<const DrawnTool> ghosts = {};  // instruments beside those of the session
};

class SessionPicture {
 public:
  // As View.
  SessionPicture(GlContext& context, const Session& session);
  // Draws into the framebuffer bound for drawing, `width` x `height` pixels.
  void draw(const Session& session, const SessionLook& look, int width, int height);

 private:
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnBonds bonds_;
  DrawnMarks marks_;
  View view_;
};

}  // namespace trocar
