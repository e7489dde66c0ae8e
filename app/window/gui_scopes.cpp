#include "app/window/gui_scopes.hpp"

#include <imgui.h>

namespace trocar::theme {
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
  return if_open(ImGui::BeginCombo(name, shown.c_str(), flags), [](float) { ImGui::EndCombo(); });
}

Scope tab_bar(const char* name) {
  return if_open(ImGui::BeginTabBar(name), [](float) { ImGui::EndTabBar(); });
}

Scope tab(const char* name, int flags) {
  return if_open(ImGui::BeginTabItem(name, nullptr, flags), [](float) { ImGui::EndTabItem(); });
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
