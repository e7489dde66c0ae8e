#include "app/window/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "app/compare/backends.hpp"
#include "app/lab/lab_station.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr FileKind kWindowFile{"window settings", std::uint64_t{1} << 16};
constexpr std::array<std::string_view, 3> kQualityNames = {"low", "medium", "high"};  // by Quality
constexpr std::array kGhostModes = {GhostMode::Off, GhostMode::InTime, GhostMode::ByProgress};

void read_optional(TomlTable& table, const char* key, std::optional<double>& value, Limits limits) {
  if (table.find(key)) value = table.number(key, limits);
}

void read_quality(TomlTable& table, std::optional<Quality>& quality) {
  if (!table.find("quality")) return;
  const auto found = std::ranges::find(kQualityNames, table.text("quality"));
  if (found == kQualityNames.end()) table.fail("quality", "must be low, medium or high; leave it out for automatic");
  quality = static_cast<Quality>(found - kQualityNames.begin());
}

void read_ghost(TomlTable& table, GhostMode& ghost) {
  if (!table.find("ghost")) return;
  const std::string name = table.text("ghost");
  const auto found = std::ranges::find_if(kGhostModes, [&](GhostMode mode) { return name_of(mode) == name; });
  if (found == kGhostModes.end()) table.fail("ghost", "must be off, in time or by progress");
  ghost = *found;
}

template <typename Choice>
void read_choice(TomlTable& table, const char* key, std::span<const char* const> names, Choice& choice) {
  if (!table.find(key)) return;
  const std::string name = table.text(key);
  const auto found = std::ranges::find_if(names, [&](const char* one) { return name == one; });
  if (found == names.end()) table.fail(key, fmt::format("must be one of: {}", fmt::join(names, ", ")));
  choice = static_cast<Choice>(found - names.begin());
}

// In the order of HandsBy and CameraBy.
constexpr std::array<const char*, kHandsBy> kHandsNames = {"mouse", "mouse and keys", "two mice", "two sticks", "keys"};
constexpr std::array<const char*, kCameraBy> kCameraNames = {"yourself", "skilled",      "learning",
                                                             "clumsy",   "second mouse", "gamepad"};

void read_last(TomlTable& table, LastChoice& last) {
  std::string scene;
  table.optional("scene", scene);
  last.scene = bytes_of_text(scene);
  table.optional("level", last.level, {1, 9});
  table.optional("backend", last.backend);
  if (last.backend != "auto" && std::ranges::find(backend_names(), last.backend) == backend_names().end())
    table.fail("backend", "is no collision backend; use auto");
  table.refuse_unknown_keys();
}

}  // namespace

const char* name_of(GhostMode mode) {
  constexpr const char* names[] = {msgid("off"), msgid("in time"), msgid("by progress")};
  return names[static_cast<std::size_t>(mode)];
}

GhostMode next(GhostMode mode) {
  return mode == GhostMode::Off      ? GhostMode::InTime
         : mode == GhostMode::InTime ? GhostMode::ByProgress
                                     : GhostMode::Off;
}

std::filesystem::path settings_file() { return lab_places().settings.parent_path() / "window.toml"; }

std::string settings_text(const KeptSettings& kept) {
  const WindowSettings& window = kept.window;
  std::string text = fmt::format(
      "mouse_sensitivity = {}\nfulcrum = {}\nround_field = {}\ntouched_faces = {}\ntechnical = {}\nfull_screen = {}\n"
      "plots = {}\ncontacts = {}\nvolume = {}\npulse = {}\nghost = \"{}\"\npack_recordings = {}\n",
      window.hands.speed, window.hands.fulcrum, window.view.round_field, window.view.show_touched, window.technical,
      window.full_screen, window.plots, window.contacts, window.volume, window.pulse, name_of(window.ghost),
      window.pack);
  text += fmt::format("hands = \"{}\"\ncamera = \"{}\"\nlens_fogs = {}\ncaptions = {}\n",
                      kHandsNames[static_cast<std::size_t>(window.hands_by)],
                      kCameraNames[static_cast<std::size_t>(window.camera)], window.lens_fogs, window.captions);
  if (!window.second_mouse.empty()) text += fmt::format("second_mouse = {}\n", quoted_text(window.second_mouse));
  if (window.lesson_offered) text += "lesson_offered = true\n";
  if (!window.language.empty()) text += fmt::format("language = {}\n", quoted_text(window.language));
  if (window.letters != 1.0) text += fmt::format("letters = {}\n", window.letters);
  if (window.field_of_view_deg) text += fmt::format("field_of_view_deg = {}\n", *window.field_of_view_deg);
  if (window.barrel) text += fmt::format("barrel = {}\n", *window.barrel);
  if (window.quality)
    text += fmt::format("quality = \"{}\"\n", kQualityNames[static_cast<std::size_t>(*window.quality)]);
  return text + fmt::format("\n[last]\nscene = {}\nlevel = {}\nbackend = {}\n", quoted_text(kept.last.scene.string()),
                            kept.last.level, quoted_text(kept.last.backend));
}

KeptSettings read_settings(const std::filesystem::path& file, const std::string& text) {
  TomlTable table = TomlTable::parse(file, text);
  KeptSettings kept;
  WindowSettings& window = kept.window;
  table.optional("mouse_sensitivity", window.hands.speed, {0.25, 4.0});
  table.optional("fulcrum", window.hands.fulcrum);
  table.optional("round_field", window.view.round_field);
  table.optional("touched_faces", window.view.show_touched);
  table.optional("technical", window.technical);
  table.optional("full_screen", window.full_screen);
  table.optional("plots", window.plots);
  table.optional("contacts", window.contacts);
  table.optional("volume", window.volume, {0.0, 1.0});
  table.optional("pulse", window.pulse);
  table.optional("pack_recordings", window.pack);
  table.optional("lesson_offered", window.lesson_offered);
  table.optional("letters", window.letters, {1.0, 1.5});
  table.optional("language", window.language);
  read_ghost(table, window.ghost);
  read_choice(table, "hands", kHandsNames, window.hands_by);
  read_choice(table, "camera", kCameraNames, window.camera);
  table.optional("lens_fogs", window.lens_fogs);
  table.optional("captions", window.captions);
  std::string second_mouse;
  table.optional("second_mouse", second_mouse);
  window.second_mouse = bytes_of_text(second_mouse);
  read_optional(table, "field_of_view_deg", window.field_of_view_deg, {20.0, 120.0});
  read_optional(table, "barrel", window.barrel, {0.0, 0.3});
  read_quality(table, window.quality);
  TomlTable last = table.table("last");
  read_last(last, kept.last);
  table.refuse_unknown_keys();
  return kept;
}

SettingsKeeper::SettingsKeeper(std::filesystem::path file) : file_(std::move(file)) {
  try {
    std::error_code none;
    if (std::filesystem::exists(file_, none)) at_start_ = read_settings(file_, read_whole_file(file_, kWindowFile));
    text_ = settings_text(at_start_);
  } catch (const std::runtime_error& error) {
    fault_ = fmt::format("{}; settings are not kept until the file is corrected or removed", error.what());
  }
}

void SettingsKeeper::keep(const KeptSettings& kept) {
  if (!fault_.empty()) return;
  std::string text = settings_text(kept);
  if (text == text_) return;
  try {
    std::filesystem::create_directories(file_.parent_path());
    WholeFile out(file_);
    out.stream() << text;
    out.commit();
    text_ = std::move(text);
  } catch (const std::runtime_error& error) {
    fault_ = error.what();
  }
}

}  // namespace trocar
