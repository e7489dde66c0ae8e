#include "app/window/editor_marks.hpp"

#include <imgui.h>

#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr double kLeastRing = 4.0;  // pixels

ImVec2 pixel_vec(const glm::dvec2& pixel) { return {static_cast<float>(pixel.x), static_cast<float>(pixel.y)}; }

void draw_ball(const Editor& editor, const Part& part, const EditorEye& eye, const glm::dvec2& size) {
  const Attachment& ball = editor.scene.organs[part.index].attachments[part.corner];
  const glm::dvec3 centre(ball.centre);
  const auto middle = pixel_of(eye, centre, size);
  const auto rim = pixel_of(eye, centre + static_cast<double>(ball.radius) * axes_of(eye.pose).right, size);
  if (!middle) return;
  const bool chosen = editor.chosen == part;
  const auto colour = theme::packed(chosen ? theme::kOrange : theme::kPurple);
  const double radius = rim ? std::max(kLeastRing, glm::distance(*middle, *rim)) : kLeastRing;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  // A ligament is drawn with a thin, a rigid attachment with a filled ball.
  if (!(ball.stiffness > 0.f))
    list.AddCircleFilled(pixel_vec(*middle), static_cast<float>(radius),
                         theme::packed(chosen ? theme::kOrange : theme::kPurple, 0.22f), 40);
  list.AddCircle(pixel_vec(*middle), static_cast<float>(radius), colour, 40, theme::px(chosen ? 2.5f : 1.5f));
  list.AddCircleFilled(pixel_vec(*middle), theme::px(4.f), colour);
}

void draw_band(const Editor& editor, std::size_t k, const EditorEye& eye, const glm::dvec2& size) {
  BandParams params = editor.scene.bands[k].params;
  const bool chosen = editor.chosen.kind == PartKind::Band && editor.chosen.index == k;
  const auto colour = theme::packed(chosen ? theme::kOrange : theme::kGreen);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  std::optional<glm::dvec2> at[4];
  for (std::size_t end = 0; end < 4; ++end) at[end] = pixel_of(eye, glm::dvec3(band_end(params, end)), size);
  const auto line = [&](std::size_t from, std::size_t to, float width) {
    if (at[from] && at[to]) list.AddLine(pixel_vec(*at[from]), pixel_vec(*at[to]), colour, theme::px(width));
  };
  line(0, 1, 2.5f), line(2, 3, 2.5f), line(0, 2, 1.2f), line(1, 3, 1.2f);
  for (const auto& end : at)
    if (chosen && end) list.AddCircleFilled(pixel_vec(*end), theme::px(4.f), colour);
}

}  // namespace

bool shows_attachments(const Editor& editor, std::size_t organ) {
  return editor.chosen.kind == PartKind::Attachment ||
         (editor.chosen.kind == PartKind::Organ && editor.chosen.index == organ);
}

void draw_tissue_marks(const Editor& editor, const EditorEye& eye, const glm::dvec2& size) {
  for (std::size_t k = 0; k < editor.scene.organs.size(); ++k)
    for (std::size_t a = 0; shows_attachments(editor, k) && a < editor.scene.organs[k].attachments.size(); ++a)
      draw_ball(editor, {PartKind::Attachment, k, a}, eye, size);
  for (std::size_t k = 0; k < editor.scene.bands.size(); ++k) draw_band(editor, k, eye, size);
}

}  // namespace trocar
