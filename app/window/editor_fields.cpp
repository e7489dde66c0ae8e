#include "app/window/editor_fields.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar::editor_fields {
namespace {

constexpr float kFieldFrom = 104.f;  // units
constexpr double kMmDrag = 0.2;      // mm per pixel

std::string hidden_id(const char* label) { return fmt::format("##{}", label); }

template <typename Number>
void scaled_number(const char* label, Number& value, double per_unit, double low, double high, const char* format) {
  theme::label(label, kFieldFrom);
  double shown = static_cast<double>(value) * per_unit;
  const float pace = static_cast<float>((high - low) * 1e-3);
  if (ImGui::DragScalar(hidden_id(label).c_str(), ImGuiDataType_Double, &shown, pace, &low, &high, format,
                        ImGuiSliderFlags_AlwaysClamp))
    value = static_cast<Number>(shown / per_unit);
  theme::note_item(label);
}

template <typename Vector>
void mm_position(const char* label, Vector& point) {
  theme::label(label, kFieldFrom);
  double mm[3] = {1e3 * static_cast<double>(point.x), 1e3 * static_cast<double>(point.y),
                  1e3 * static_cast<double>(point.z)};
  if (ImGui::DragScalarN(hidden_id(label).c_str(), ImGuiDataType_Double, mm, 3, static_cast<float>(kMmDrag), nullptr,
                         nullptr, "%.0f"))
    point = Vector(mm[0] * 1e-3, mm[1] * 1e-3, mm[2] * 1e-3);
}

}  // namespace

void number(const char* label, double& value, double per_unit, double low, double high, const char* format) {
  scaled_number(label, value, per_unit, low, high, format);
}

void number(const char* label, float& value, double per_unit, double low, double high, const char* format) {
  scaled_number(label, value, per_unit, low, high, format);
}

void number(const char* label, int& value, int low, int high) {
  theme::label(label, kFieldFrom);
  ImGui::DragInt(hidden_id(label).c_str(), &value, 0.1f, low, high, "%d", ImGuiSliderFlags_AlwaysClamp);
  theme::note_item(label);
}

void flag(const char* label, bool& value) {
  theme::label(label, kFieldFrom);
  ImGui::Checkbox(hidden_id(label).c_str(), &value);
  theme::note_item(label);
}

void position(const char* label, glm::dvec3& point) { mm_position(label, point); }

void position(const char* label, glm::vec3& point) { mm_position(label, point); }

void direction(const char* label, glm::vec3& vector) {
  theme::label(label, kFieldFrom);
  glm::vec3 shown = vector;
  if (ImGui::DragFloat3(hidden_id(label).c_str(), &shown.x, 0.01f, -1.f, 1.f, "%.2f", ImGuiSliderFlags_AlwaysClamp))
    vector = shown;
}

void words(const char* label, std::string& text) {
  theme::label(label, kFieldFrom);
  ImGui::InputText(hidden_id(label).c_str(), &text);
  theme::note_item(label);
}

bool choice(const char* label, const std::vector<std::string>& names, std::string& value, const char* none) {
  theme::label(label, kFieldFrom);
  const theme::Scope list = theme::combo(hidden_id(label).c_str(), value.empty() && none ? none : value);
  if (!list) {
    theme::note_item(label);
    return false;
  }
  bool changed = false;
  if (none && ImGui::Selectable(none, value.empty())) value.clear(), changed = true;
  for (const std::string& name : names) {
    if (ImGui::Selectable(name.c_str(), name == value)) value = name, changed = true;
    theme::note_item(name);
  }
  return changed;
}

}  // namespace trocar::editor_fields
