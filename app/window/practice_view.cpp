#include "app/window/practice_view.hpp"

#include <glad/gl.h>

#include "geometry/stopwatch.hpp"

namespace trocar {
namespace {

std::vector<DrawnOrgan> organs_of(const Practice& practice) {
  std::vector<DrawnOrgan> organs;
  drawn_organs(practice.session(), organs);
  return organs;
}

}  // namespace

PracticeView::PracticeView(GlContext& context, const Practice& practice)
    : organs_(organs_of(practice)), view_(context, organs_) {}

void PracticeView::draw(Practice& practice, const WindowSettings& settings, std::span<const DrawnTool> ghosts,
                        const glm::ivec2& size) {
  const Session& session = practice.session();
  drawn_organs(session, organs_);
  drawn_tools(session, tools_);
  tools_.insert(tools_.end(), ghosts.begin(), ghosts.end());
  drawn_bonds(session, bonds_);
  marks_.targets.clear(), marks_.paths.clear(), marks_.zones.clear();
  if (practice.task() && session.frames() > 0) practice.task()->draw(marks_);
  ScopePose pose = session.scope().pose;
  pose.field_of_view_deg = settings.field_of_view_deg.value_or(practice.scene().scope.field_of_view_deg);
  Lens lens = session.scope().lens;
  lens.barrel = settings.barrel.value_or(lens.barrel);
  keeper_.fix(settings.quality);
  ViewSettings view = settings.view;
  view.quality = keeper_.quality();
  view.time = practice.time();
  const auto start = Clock::now();
  view_.draw(organs_, tools_, bonds_, pose, lens, marks_, view, size.x, size.y);
  glFinish();
  const double draw_ms = milliseconds_since(start);
  practice.note_drawing(draw_ms);
  keeper_.drawn(draw_ms);
}

}  // namespace trocar
