#include "app/window/widgets/help_panel.hpp"

#include <imgui.h>

#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"

namespace trocar {
namespace {

constexpr float kHelpWidth = 760.f, kHelpHeight = 640.f, kHelpBelow = 44.f;  // units
constexpr float kWhatFrom = 170.f;

constexpr KeyLine kTasks[] = {
    {msgid("Choose"),
     msgid("a task at the left of the start screen, or a step of the curriculum; the easiest come first.")},
    {msgid("See it"), msgid("Show me lets the expert do the task before you; the expert's ghost goes beside you.")},
    {msgid("Do it"),
     msgid("The panel at the top left says what comes next and which instrument it needs; that instrument comes into "
           "your hand, and its name is marked. What must be held has a bar of its own.")},
    {msgid("Targets"),
     msgid("The next target is blue, a finished one green, a wrong touch orange. Their order is their number.")},
    {msgid("Operation"),
     msgid("Its steps may be done in any safe order. No duct is divided before it is shown and clipped.")},
    {msgid("Errors"),
     msgid("Most errors cost points and the task goes on: a bleeding can be stopped, and stopping it counts.")},
};
constexpr KeyLine kHelpScope[] = {
    {msgid("Move"),
     msgid("Hold the right button and move the mouse; the wheel brings the scope nearer. Or take it with its number.")},
    {msgid("Turn"),
     msgid("Q and W turn the light post of an angled scope: it looks round a corner. The horizon stays level.")},
    {msgid("Keep"),
     msgid("every tip in the picture. A tip behind an organ or outside the round field counts as out of view.")},
    {msgid("Distance"), msgid("Near is large and clear; too near, the lens gets dirty in the task of the camera.")},
};
constexpr KeyLine kScoring[] = {
    {msgid("Score"), msgid("0 to 100: the mean of the grades of a task's parts, times how much of it is done.")},
    {msgid("Grade"),
     msgid("of a part: full at its good value or better, none at its poor value, in proportion between them.")},
    {msgid("Error"),
     msgid("said when it happens, with its time. A critical error, as a division without clips, limits the score "
           "to 30 points.")},
    {msgid("Pass"),
     msgid("a step of the curriculum says what it asks: points, no critical error, how often in a row.")},
    {msgid("Practice"),
     msgid("An attempt on a machine that is too slow does not count, neither as a pass nor as a failure.")},
    {msgid("Abandoned"), msgid("An attempt that you leave before its end is kept and counts as not passed.")},
};

void lines(std::span<const KeyLine> all, const KeyLayout& layout) {
  for (const KeyLine& line : all) {
    theme::text(in_layout(tr(line.keys), layout), theme::kYellow);
    ImGui::SameLine(theme::px(kWhatFrom));
    theme::wrapped(in_layout(tr(line.what), layout));
  }
  ImGui::Spacing();
}

void topic(const char* name, std::span<const KeyLine> all, const KeyLayout& layout) {
  const theme::Scope tab = theme::tab(name);
  theme::note_item(name);
  if (tab) lines(all, layout);
}

void keys_topic(const KeyLayout& layout, bool technical) {
  const theme::Scope tab = theme::tab("Keys");
  theme::note_item("Keys");
  if (!tab) return;
  const theme::Scope list = theme::child("keys", {0.f, 0.f}, ImGuiWindowFlags_NavFlattened);
  const theme::WithLetters small(theme::Letters::Small);
  for (const KeyGroup& group : key_table()) {
    if (group.technical && !technical) continue;
    theme::heading(tr(group.title));
    lines(group.lines, layout);
  }
}

}  // namespace

bool draw_help(const KeyLayout& layout, bool technical) {
  theme::dim_screen(0.4f);
  const theme::Panel panel("help", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {kHelpWidth, kHelpHeight}}, theme::PanelKind::Front,
                           0.97f);
  theme::headline(tr("Help"));
  const float height = ImGui::GetContentRegionAvail().y - theme::px(kHelpBelow);
  {
    const theme::Scope content = theme::child("topics", {0.f, height}, ImGuiWindowFlags_NavFlattened);
    const theme::Scope tabs = theme::tab_bar("help");
    keys_topic(layout, technical);
    topic("Tasks", kTasks, layout);
    topic("Scope", kHelpScope, layout);
    topic("Scoring", kScoring, layout);
  }
  return !theme::button("Close", 110.f, true);
}

}  // namespace trocar
