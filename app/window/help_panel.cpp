#include "app/window/help_panel.hpp"

#include <imgui.h>

#include "app/window/key_table.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

void group_lines(const KeyGroup& group, const KeyLayout& layout) {
  theme::heading(group.title);
  for (const KeyLine& line : group.lines) {
    theme::text(in_layout(line.keys, layout), theme::kYellow);
    ImGui::SameLine(theme::px(170.f));
    theme::text(in_layout(line.what, layout));
  }
  ImGui::Spacing();
}

}  // namespace

bool draw_help(const KeyLayout& layout) {
  theme::dim_screen(0.4f);
  const theme::Panel panel("help", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {640.f, 0.f}}, theme::PanelKind::Front, 0.97f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Keys and mouse");
  }
  {
    const theme::WithLetters small(theme::Letters::Small);
    for (const KeyGroup& group : key_table()) group_lines(group, layout);
  }
  const bool open = !theme::button("Close", 110.f, true);
  return open;
}

}  // namespace trocar
