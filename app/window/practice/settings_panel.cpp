#include "app/window/practice/settings_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "app/window/language.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"

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
  theme::text(tr(std::string(label)), theme::kQuiet);
  ImGui::SameLine(theme::px(kSecondFrom + kSettingFrom - 30.f));
  ImGui::Checkbox(id, &value);
}

void check(std::string_view label, const char* id, bool& value) {
  theme::label(label, kSettingFrom);
  ImGui::Checkbox(id, &value);
}

void quality_choice(std::optional<Quality> now, WindowSettings& settings) {
  const std::string names[] = {tr("automatic"), tr("low"), tr("medium"), tr("high")};
  const auto name_of = [&](Quality quality) { return names[static_cast<std::size_t>(quality) + 1]; };
  const std::string shown = settings.quality ? name_of(*settings.quality)
                            : now            ? fmt::format("{}: {}", names[0], name_of(*now))
                                             : names[0];
  if (const auto chosen = theme::choice("Quality", shown, names, kSettingFrom))
    settings.quality = *chosen == 0 ? std::nullopt : std::optional(static_cast<Quality>(*chosen - 1));
}

// A scene has its own field of view and distortion, until the user changes them.
void lens_settings(const Practice& practice, WindowSettings& settings) {
  double field = settings.field_of_view_deg.value_or(practice.scene().scope.field_of_view_deg);
  const double field_before = field;
  slider("Field of view", "##field", field, 20.0, 120.0, "%.0f\u00B0");
  if (field != field_before) settings.field_of_view_deg = field;
  double barrel = settings.barrel.value_or(practice.scene().scope.lens.barrel);
  const double barrel_before = barrel;
  slider("Barrel distortion", "##barrel", barrel, 0.0, 0.3, "%.2f");
  if (barrel != barrel_before) settings.barrel = barrel;
}

// Of all texts; a catalogue of the data folder, or that of the system.
void language_choice(WindowSettings& settings) {
  std::vector<std::string> codes{""}, names{tr("as the system")};
  for (const Language& language : languages()) codes.push_back(language.code), names.push_back(language.name);
  const auto now = std::ranges::find(codes, settings.language);
  const std::string shown =
      now == codes.end() ? settings.language : names[static_cast<std::size_t>(now - codes.begin())];
  if (const auto chosen = theme::choice("Language", shown, names, kSettingFrom)) settings.language = codes[*chosen];
}

void picture_settings(const Practice* practice, std::optional<Quality> quality, WindowSettings& settings) {
  if (practice) lens_settings(*practice, settings);
  quality_choice(quality, settings);
  slider("Size of letters", "##letters", settings.letters, 1.0, 1.5, "%.2f");
  check("Full screen (F11)", "##screen", settings.full_screen);
  check_beside("Circular view", "##round", settings.view.round_field);
  language_choice(settings);
}

// `count`: of the choices of an enumeration with name_of().
template <typename Choice>
void choice_of(const char* label, std::size_t count, Choice& choice) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.emplace_back(tr(name_of(static_cast<Choice>(k))));
  if (const auto chosen = theme::choice(label, tr(name_of(choice)), names, kSettingFrom))
    choice = static_cast<Choice>(*chosen);
}

// The mice of this machine, when the row is drawn.
void second_mouse_choice(WindowSettings& settings) {
  std::vector<std::string> names = {tr("the last one")};
  const std::vector<ListedMouse> mice = list_mice();
  std::string shown = settings.second_mouse.empty() ? names[0] : settings.second_mouse;
  for (const ListedMouse& mouse : mice) {
    names.push_back(fmt::format("{}: {}", mouse.number, printable(mouse.name)));
    if (settings.second_mouse == std::to_string(mouse.number)) shown = names.back();
  }
  if (const auto chosen = theme::choice("Second mouse", shown, names, kSettingFrom))
    settings.second_mouse = *chosen == 0 ? std::string() : std::to_string(mice[*chosen - 1].number);
}

void hand_settings(WindowSettings& settings) {
  choice_of("Hands", kHandsBy, settings.hands_by);
  choice_of("Camera", kCameraBy, settings.camera);
  if (settings.hands_by == HandsBy::TwoMice || settings.camera == CameraBy::SecondMouse) second_mouse_choice(settings);
  slider("Mouse and wheel sensitivity", "##speed", settings.hands.speed, 0.25, 4.0, "%.2f");
  check("Fulcrum effect", "##fulcrum", settings.hands.fulcrum);
  check_beside("Lens fogs (free practice)", "##fog", settings.lens_fogs);
}

// The backend takes effect from the next frame on.
void query_settings(Practice& practice, const KeyLayout& keys) {
  theme::heading(tr("Touch queries"));
  const std::string now = practice.session().backend().name;
  if (const auto chosen = theme::choice("Collision backend", now, backend_names(), kSettingFrom))
    practice.use_backend(backend_names()[*chosen]);
  if (practice.session().backend_times().size() < 2) return;
  bool checking = practice.session().checking();
  check(in_layout(tr("Check with the OBB tree (C)"), keys), "##check", checking);
  practice.session().set_checking(checking);
}

void ghost_choice(const KeyLayout& keys, WindowSettings& settings) {
  std::vector<std::string> names;
  for (const GhostMode mode : {GhostMode::Off, GhostMode::InTime, GhostMode::ByProgress})
    names.push_back(tr(name_of(mode)));
  const std::string label = in_layout(tr("Expert's ghost (X)"), keys);
  if (const auto chosen = theme::choice(label, tr(name_of(settings.ghost)), names, kSettingFrom))
    settings.ghost = static_cast<GhostMode>(*chosen);
}

void sound_settings(WindowSettings& settings) {
  theme::heading(tr("Sound"));
  slider("Volume (0: silent)", "##volume", settings.volume, 0.0, 1.0, "%.2f");
  check("Pulse", "##pulse", settings.pulse);
  check_beside("Captions of sounds", "##captions", settings.captions);
}

void panel_settings(const KeyLayout& keys, WindowSettings& settings) {
  theme::heading(tr("Overlays"));
  check(in_layout(tr("Technical overlay (T)"), keys), "##technical", settings.technical);
  if (settings.technical) {
    check_beside(in_layout(tr("Touched faces (G)"), keys), "##touched", settings.view.show_touched);
    check(in_layout(tr("Times of each stage (H)"), keys), "##plots", settings.plots);
    check_beside(in_layout(tr("List of contacts (L)"), keys), "##contacts", settings.contacts);
  }
  ghost_choice(keys, settings);
}

// Shows the tissue parameters, read-only; the scene editor changes them.
void tissue_table(const Scene& scene) {
  theme::heading(tr("Tissue (change it in the scene editor)"));
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

template <typename Draw>
void settings_topic(const char* name, const Draw& draw) {
  const theme::Scope tab = theme::tab(name);
  theme::note_item(name);
  if (!tab) return;
  ImGui::Spacing();
  draw();
}

}  // namespace

bool draw_settings(Practice* practice, std::optional<Quality> quality, const KeyLayout& keys,
                   WindowSettings& settings) {
  const theme::Panel panel("settings", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {560.f, 0.f}}, theme::PanelKind::Front, 0.96f);
  theme::headline(tr("Settings"));
  {
    const theme::Scope tabs = theme::tab_bar("settings");
    settings_topic("Picture", [&] { picture_settings(practice, quality, settings); });
    settings_topic("Hands and camera", [&] { hand_settings(settings); });
    settings_topic("Sound and overlays", [&] {
      sound_settings(settings);
      panel_settings(keys, settings);
      check("Pack recordings", "##pack", settings.pack);
    });
    if (practice && settings.technical)
      settings_topic("Technical", [&] {
        query_settings(*practice, keys);
        tissue_table(practice->scene());
      });
  }
  ImGui::Spacing();
  if (theme::button("Reset", 110.f)) settings = {};
  ImGui::SameLine();
  const bool open = !theme::button("Close", 110.f, true);
  ImGui::SameLine();
  theme::text(tr("Kept for the next start"), theme::kQuiet);
  return open;
}

}  // namespace trocar
