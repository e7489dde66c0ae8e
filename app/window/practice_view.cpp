#include "app/window/practice_view.hpp"

namespace trocar {

PracticeView::PracticeView(GlContext& context, const Practice& practice) : picture_(context, practice.session()) {}

void PracticeView::draw(Practice& practice, const WindowSettings& settings, std::span<const DrawnTool> ghosts,
                        const glm::ivec2& size) {
  const SessionScope& scope = practice.session().scope();
  keeper_.fix(settings.quality);
  SessionLook look{settings.view, practice.task(), scope.pose, scope.lens, ghosts};
  look.scope->field_of_view_deg = settings.field_of_view_deg.value_or(practice.scene().scope.field_of_view_deg);
  look.lens->barrel = settings.barrel.value_or(scope.lens.barrel);
  look.settings.quality = keeper_.quality();
  look.settings.time = practice.time();
  const double draw_ms = timer_.time([&] { picture_.draw(practice.session(), look, size.x, size.y); });
  practice.note_drawing(draw_ms);
  keeper_.drawn(draw_ms);
}

}  // namespace trocar
