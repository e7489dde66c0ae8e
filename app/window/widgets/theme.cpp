#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <vector>

namespace trocar::theme {
namespace {

constexpr float kUnitsOfText = 15.f;

ImVec4 of(const glm::vec3& colour, float alpha = 1.f) { return {colour.r, colour.g, colour.b, alpha}; }

}  // namespace

std::uint32_t packed(const glm::vec3& colour, float alpha) { return ImGui::ColorConvertFloat4ToU32(of(colour, alpha)); }

glm::vec3 instrument_colour(std::size_t instrument) {
  constexpr glm::vec3 colours[] = {kSkyBlue, kYellow, {0.10f, 0.74f, 0.56f}, {0.94f, 0.48f, 0.12f}};
  return colours[instrument % std::size(colours)];
}

WithLetters::WithLetters(Letters letters) {
  const auto& fonts = ImGui::GetIO().Fonts->Fonts;
  ImGui::PushFont(fonts[std::min(static_cast<int>(letters), fonts.Size - 1)]);
}
WithLetters::~WithLetters() { ImGui::PopFont(); }

float px(float units) { return units * ImGui::GetIO().Fonts->Fonts[0]->FontSize / kUnitsOfText; }

namespace {

ShownFrame& shown_frame() { return *static_cast<ShownFrame*>(ImGui::GetIO().UserData); }

}  // namespace

void note_words(std::string_view words) {
  if (shown_frame().with_words) shown_frame().words.emplace_back(words);
}

void beside_or_below(float width) {
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < px(width)) ImGui::NewLine();
}

float height_above(float units, float below) {
  return std::max(std::min(px(units), ImGui::GetContentRegionAvail().y - px(below)), px(40.f));
}

void text(std::string_view words, const glm::vec3& colour) {
  note_words(words);
  ImGui::PushStyleColor(ImGuiCol_Text, of(colour));
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
  ImGui::PopStyleColor();
}

void wrapped(std::string_view words, const glm::vec3& colour) {
  ImGui::PushTextWrapPos(0.f);
  text(words, colour);
  ImGui::PopTextWrapPos();
}

void label(std::string_view words, float from, float width) {
  ImGui::AlignTextToFramePadding();
  text(tr(std::string(words)), kQuiet);
  ImGui::SameLine(px(from));
  ImGui::SetNextItemWidth(width > 0.f ? px(width) : -1.f);
}

void heading(std::string_view words) {
  const WithLetters letters(Letters::Small);
  text(words, kSkyBlue);
  ImGui::Separator();
}

void headline(std::string_view words, bool wraps) {
  const WithLetters large(Letters::Heading);
  wraps ? wrapped(words) : text(words);
}

void row(std::string_view label, std::string_view value, const glm::vec3& colour) {
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  text(tr(std::string(label)), kQuiet);
  const float width = ImGui::CalcTextSize(value.data(), value.data() + value.size()).x;
  ImGui::SameLine(std::max(right - width, 0.f));
  text(value, colour);
}

void bar(double share, const glm::vec3& colour, std::string_view words, float height) {
  const float part = static_cast<float>(std::clamp(share, 0.0, 1.0));
  const ImVec2 from = ImGui::GetCursorScreenPos(), size(ImGui::GetContentRegionAvail().x, px(height));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float round = px(3.f);
  list.AddRectFilled(from, {from.x + size.x, from.y + size.y}, ImGui::GetColorU32(ImGuiCol_FrameBg), round);
  if (part > 0.f)
    list.AddRectFilled(from, {from.x + std::max(part * size.x, 2.f * round), from.y + size.y}, packed(colour), round);
  if (!words.empty()) {
    note_words(words);
    const ImVec2 letters = ImGui::CalcTextSize(words.data(), words.data() + words.size());
    const ImVec2 at(from.x + 0.5f * (size.x - letters.x), from.y + 0.5f * (size.y - letters.y));
    list.AddText({at.x + 1.f, at.y + 1.f}, IM_COL32(0, 0, 0, 200), words.data(), words.data() + words.size());
    list.AddText(at, packed(kText), words.data(), words.data() + words.size());
  }
  ImGui::Dummy(size);
}

void note_item(std::string_view label) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  shown_frame().items.push_back({std::string(label), {from.x, from.y}, {to.x, to.y}});
}

bool button(const char* label, float width, bool main, bool enabled) {
  if (!enabled) ImGui::BeginDisabled();
  if (main) {
    ImGui::PushStyleColor(ImGuiCol_Button, of(kBlue));
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, of(kBlue * 1.25f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, of(kBlue * 1.4f));
  }
  // A translation may be wider than the button.
  const char* const words = tr(label);
  const float needed = ImGui::CalcTextSize(words).x + 2.f * ImGui::GetStyle().FramePadding.x;
  const bool pressed = ImGui::Button(words, {width > 0.f ? std::max(px(width), needed) : 0.f, 0.f});
  note_words(words);
  if (main) ImGui::PopStyleColor(3);
  if (!enabled) ImGui::EndDisabled();
  note_item(label);
  return pressed;
}

Panel::Panel(const char* name, const PanelLayout& layout, PanelKind kind, float opacity) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x * layout.at.x + px(layout.shift.x), screen.y * layout.at.y + px(layout.shift.y)},
                          ImGuiCond_Always, {layout.pivot.x, layout.pivot.y});
  ImGui::SetNextWindowBgAlpha(opacity);
  ImGuiWindowFlags flags = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                           ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings;
  if (kind != PanelKind::Front) flags |= ImGuiWindowFlags_NoBringToFrontOnFocus;
  if (kind == PanelKind::Shown)
    flags |= ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing |
             ImGuiWindowFlags_NoScrollbar;
  // Large letters make panels larger than a small window: those scroll.
  const float width = std::min(px(layout.size.x), screen.x), height = std::min(px(layout.size.y), screen.y);
  if (layout.size.x > 0.f && layout.size.y > 0.f) {
    ImGui::SetNextWindowSize({width, height});
  } else {
    flags |= ImGuiWindowFlags_AlwaysAutoResize;
    if (layout.size.x > 0.f)
      ImGui::SetNextWindowSizeConstraints({width, 0.f}, {width, screen.y});
    else
      ImGui::SetNextWindowSizeConstraints({0.f, 0.f}, screen);
  }
  ImGui::Begin(name, nullptr, flags);
}

Panel::~Panel() { ImGui::End(); }

void dim_screen(float opacity) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::GetBackgroundDrawList()->AddRectFilled({0, 0}, screen, packed(glm::vec3(0.f), opacity));
}

namespace {

Scope if_open(bool open, Scope::End end) { return {open, open ? end : nullptr}; }

}  // namespace

Scope child(const char* name, const glm::vec2& size, int flags, bool border) {
  return {ImGui::BeginChild(name, {size.x, size.y}, border, flags), [](float) { ImGui::EndChild(); }};
}

Scope table(const char* name, int columns, int flags, float height) {
  return if_open(ImGui::BeginTable(name, columns, flags, {0.f, height}), [](float) { ImGui::EndTable(); });
}

Scope combo(const char* name, const std::string& shown, int flags) {
  note_words(shown);
  return if_open(ImGui::BeginCombo(name, shown.c_str(), flags), [](float) { ImGui::EndCombo(); });
}

std::optional<std::size_t> choice(const std::string& title, const std::string& shown,
                                  std::span<const std::string> names, float from, float width) {
  label(title, from, width);
  const Scope list = combo(("##" + title).c_str(), shown);
  std::optional<std::size_t> chosen;
  if (!list) note_item(title);
  for (std::size_t k = 0; list && k < names.size(); ++k) {
    if (ImGui::Selectable(names[k].c_str(), names[k] == shown)) chosen = k;
    note_item(names[k]);
  }
  return chosen;
}

Scope tab_bar(const char* name) {
  return if_open(ImGui::BeginTabBar(name), [](float) { ImGui::EndTabBar(); });
}

Scope tab(const char* name, int flags) {
  const std::string words = tr(std::string(name));
  note_words(words);
  return if_open(ImGui::BeginTabItem(fmt::format("{}###{}", words, name).c_str(), nullptr, flags),
                 [](float) { ImGui::EndTabItem(); });
}

Scope group() {
  ImGui::BeginGroup();
  return {true, [](float) { ImGui::EndGroup(); }};
}

Scope indent(float pixels) {
  ImGui::Indent(pixels);
  return {true, [](float by) { ImGui::Unindent(by); }, pixels};
}

Scope with_id(std::size_t id) {
  ImGui::PushID(static_cast<int>(id));
  return {true, [](float) { ImGui::PopID(); }};
}

Scope with_cell_padding(const glm::vec2& pixels) {
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {pixels.x, pixels.y});
  return {true, [](float) { ImGui::PopStyleVar(); }};
}

}  // namespace trocar::theme
