#include "app/window/scene_shelf.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr float kThumbWidth = 68.f, kCardHeight = 44.f, kCardPadding = 3.f;  // units
constexpr int kColumns = 2, kFreshFrames = 4;

const char* title_of(SceneGroup group) {
  constexpr const char* titles[] = {"Tasks, the easiest first", "Procedures", "Free practice", "Your scenes"};
  return titles[static_cast<std::size_t>(group)];
}

// A title beside the thumbnail, in the middle of the card's height; what does not fit into two lines is cut off. With a
// file name, the title has one line.
void card_title(const std::string& title, const std::string& file, const ImVec2& from, const ImVec2& to,
                const glm::vec3& colour) {
  const theme::WithLetters small(theme::Letters::Small);
  const float width = to.x - from.x, line = ImGui::GetTextLineHeight();
  const float wrap = file.empty() ? width : 0.f;
  const float lines =
      file.empty() ? std::min(ImGui::CalcTextSize(title.c_str(), nullptr, false, width).y, 2.f * line) : 2.f * line;
  const ImVec4 clip(from.x, from.y, to.x, to.y);
  const float top = 0.5f * (from.y + to.y - lines);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {from.x, top}, theme::packed(colour), title.c_str(), nullptr,
               wrap, &clip);
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {from.x, top + line}, theme::packed(theme::kQuiet), file.c_str(),
               nullptr, 0.f, &clip);
}

}  // namespace

void note_visible_item(std::string_view label) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  const ImVec2 middle(0.5f * (from.x + to.x), 0.5f * (from.y + to.y));
  if (ImGui::IsRectVisible(middle, {middle.x + 1.f, middle.y + 1.f})) theme::note_item(label);
}

void CardFocus::begin() {
  const int frame = ImGui::GetFrameCount();
  const bool appears = ImGui::IsWindowAppearing() || frame != frame_ + 1;
  frame_ = frame;
  fresh_ = appears ? kFreshFrames : std::max(fresh_ - 1, 0);
  if (appears) last_.reset();
  // A key that moves the focus is meant, however fresh the list is; the focus moves in the next frame.
  for (const ImGuiKey key : {ImGuiKey_UpArrow, ImGuiKey_DownArrow, ImGuiKey_LeftArrow, ImGuiKey_RightArrow})
    if (ImGui::IsKeyPressed(key)) fresh_ = 0;
}

bool CardFocus::moved_to(std::size_t card) {
  if (!ImGui::IsItemFocused()) return false;
  const bool moved = last_ && *last_ != card && fresh_ == 0;
  last_ = card;
  return moved;
}

bool SceneShelf::card(const ListedScene& listed, std::size_t number, bool selected) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, pad = theme::px(kCardPadding);
  bool pressed = ImGui::Selectable(fmt::format("##{}", number).c_str(), selected, 0, {width, theme::px(kCardHeight)});
  const bool own = listed.group == SceneGroup::Own;
  note_visible_item(own ? listed.file.stem().string() : listed.title);
  if (selected && focus_.fresh()) ImGui::SetItemDefaultFocus();
  if (focus_.moved_to(number) && !selected) pressed = true;
  if (selected && reveal_) ImGui::SetScrollHereY(0.5f), reveal_ = false;
  const ImVec2 to(from.x + width, from.y + theme::px(kCardHeight));
  thumbnails_.draw_at(listed, from.x + pad, from.y + pad, theme::px(kThumbWidth));
  // Scenes that the user made from others have their titles.
  card_title(listed.title, own ? listed.file.stem().string() : "", {from.x + theme::px(kThumbWidth + 10.f), from.y},
             {to.x - pad, to.y}, listed.fault.empty() ? theme::kText : theme::kBad);
  return pressed;
}

std::optional<std::size_t> SceneShelf::draw(std::span<const ListedScene> scenes, std::size_t selected) {
  focus_.begin();
  std::optional<std::size_t> pressed;
  const theme::Scope padding = theme::with_cell_padding({theme::px(2.f), theme::px(1.f)});
  for (std::size_t k = 0; k < scenes.size();) {
    const SceneGroup group = scenes[k].group;
    theme::heading(title_of(group));
    {
      const theme::Scope table = theme::table(title_of(group), kColumns, ImGuiTableFlags_SizingStretchSame);
      if (!table) break;
      for (; k < scenes.size() && scenes[k].group == group; ++k) {
        ImGui::TableNextColumn();
        if (card(scenes[k], k, k == selected)) pressed = k;
      }
    }
    ImGui::Dummy({0.f, theme::px(2.f)});
  }
  return pressed;
}

}  // namespace trocar
