#include "app/window/settings_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include "app/compare/backends.hpp"
#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr float kSettingFrom = 220.f;  // units

void slider(const char* label, const char* id, double& value, double low, double high, const char* format) {
  theme::label(label, kSettingFrom);
  ImGui::SliderScalar(id, ImGuiDataType_Double, &value, &low, &high, format, ImGuiSliderFlags_AlwaysClamp);
}

constexpr float kSecondFrom = 290.f;  // units, of the second setting of a row

void check_beside(std::string_view label, const char* id, bool& value) {
  ImGui::SameLine(theme::px(kSecondFrom));
  ImGui::AlignTextToFramePadding();
  theme::text(label, theme::kQuiet);
  ImGui::SameLine(theme::px(kSecondFrom + kSettingFrom - 30.f));
  ImGui::Checkbox(id, &value);
}

void check(std::string_view label, const char* id, bool& value) {
  theme::label(label, kSettingFrom);
  ImGui::Checkbox(id, &value);
}

void quality_choice(Quality now, WindowSettings& settings) {
  theme::label("Quality", kSettingFrom);
  constexpr const char* names[] = {"automatic", "low", "medium", "high"};
  const auto name_of = [&](Quality quality) { return names[static_cast<int>(quality) + 1]; };
  int chosen = settings.quality ? static_cast<int>(*settings.quality) + 1 : 0;
  const std::string shown = chosen > 0 ? names[chosen] : fmt::format("{}: {}", names[0], name_of(now));
  const theme::Scope list = theme::combo("##quality", shown);
  if (!list) return;
  for (int k = 0; k < 4; ++k)
    if (ImGui::Selectable(names[k], k == chosen))
      settings.quality = k == 0 ? std::nullopt : std::optional(static_cast<Quality>(k - 1));
}

void scope_settings(const Practice& practice, Quality quality, WindowSettings& settings) {
  theme::heading("Scope picture");
  double field = settings.field_of_view_deg.value_or(practice.scene().scope.field_of_view_deg);
  const double field_before = field;
  slider("Field of view", "##field", field, 20.0, 120.0, "%.0f\u00B0");
  if (field != field_before) settings.field_of_view_deg = field;
  double barrel = settings.barrel.value_or(practice.scene().scope.lens.barrel);
  const double barrel_before = barrel;
  slider("Barrel distortion", "##barrel", barrel, 0.0, 0.3, "%.2f");
  if (barrel != barrel_before) settings.barrel = barrel;
  quality_choice(quality, settings);
  check("Full screen (F11)", "##screen", settings.full_screen);
  check_beside("Circular view", "##round", settings.view.round_field);
}

void hand_settings(WindowSettings& settings) {
  theme::heading("Input");
  slider("Mouse and wheel sensitivity", "##speed", settings.hands.speed, 0.25, 4.0, "%.2f");
  check("Fulcrum effect", "##fulcrum", settings.hands.fulcrum);
}

// The backend takes effect from the next frame on.
void query_settings(Practice& practice, const KeyLayout& keys) {
  theme::heading("Touch queries");
  theme::label("Collision backend", kSettingFrom);
  const std::string now = practice.session().backend().name;
  if (const theme::Scope list = theme::combo("##backend", now)) {
    for (const std::string& name : backend_names())
      if (ImGui::Selectable(name.c_str(), name == now)) practice.use_backend(name);
  }
  if (practice.session().backend_times().size() < 2) return;
  bool checking = practice.session().checking();
  check(in_layout("Check with the OBB tree (C)", keys), "##check", checking);
  practice.session().set_checking(checking);
}

void ghost_choice(const KeyLayout& keys, WindowSettings& settings) {
  theme::label(in_layout("Expert's ghost (X)", keys), kSettingFrom);
  const theme::Scope list = theme::combo("##ghost", name_of(settings.ghost));
  if (!list) return;
  for (const GhostMode mode : {GhostMode::Off, GhostMode::InTime, GhostMode::ByProgress})
    if (ImGui::Selectable(name_of(mode), mode == settings.ghost)) settings.ghost = mode;
}

void sound_settings(WindowSettings& settings) {
  theme::heading("Sound");
  slider("Volume (0: silent)", "##volume", settings.volume, 0.0, 1.0, "%.2f");
  check("Pulse", "##pulse", settings.pulse);
}

void panel_settings(const KeyLayout& keys, WindowSettings& settings) {
  theme::heading("Overlays");
  check(in_layout("Technical overlay (T)", keys), "##technical", settings.technical);
  check_beside(in_layout("Touched faces (G)", keys), "##touched", settings.view.show_touched);
  check(in_layout("Times of each stage (H)", keys), "##plots", settings.plots);
  check_beside(in_layout("List of contacts (L)", keys), "##contacts", settings.contacts);
  ghost_choice(keys, settings);
}

// Shows the tissue parameters, read-only; the scene editor changes them.
void tissue_table(const Scene& scene) {
  theme::heading("Tissue (change it in the scene editor)");
  const theme::Scope table = theme::table("tissue", 5, ImGuiTableFlags_SizingStretchProp);
  if (!table) return;
  for (const char* title : {"Organ", "Modulus", "Poisson", "Density", "Friction"}) {
    ImGui::TableNextColumn();
    theme::text(title, theme::kQuiet);
  }
  for (const OrganScene& organ : scene.organs) {
    for (const std::string& cell :
         {organ.name, fmt::format("{:g} kPa", organ.tissue.youngs_modulus * 1e-3f),
          fmt::format("{:g}", organ.tissue.poisson_ratio), fmt::format("{:g} kg/m\u00B3", organ.tissue.density),
          fmt::format("{:g}", organ.tissue.friction)}) {
      ImGui::TableNextColumn();
      theme::text(cell);
    }
  }
}

}  // namespace

bool draw_settings(Practice& practice, Quality quality, const KeyLayout& keys, WindowSettings& settings) {
  const theme::Panel panel("settings", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {540.f, 0.f}}, theme::PanelKind::Front, 0.94f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Settings");
  }
  scope_settings(practice, quality, settings);
  hand_settings(settings);
  if (settings.technical) query_settings(practice, keys);
  sound_settings(settings);
  panel_settings(keys, settings);
  if (settings.technical) tissue_table(practice.scene());
  check("Pack recordings", "##pack", settings.pack);
  ImGui::Spacing();
  if (theme::button("Reset", 110.f)) settings = {};
  ImGui::SameLine();
  const bool open = !theme::button("Close", 110.f, true);
  ImGui::SameLine();
  theme::text("Kept for the next start", theme::kQuiet);
  return open;
}

}  // namespace trocar
