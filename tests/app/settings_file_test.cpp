// Tests the settings that the window keeps: what is written is read again, and a damaged file stays as it is.
#include "app/window/settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr const char* kAbsentFile = "window.toml";

KeptSettings random_settings(std::mt19937& random) {
  const auto chance = [&] { return std::bernoulli_distribution(0.5)(random); };
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  KeptSettings kept;
  WindowSettings& window = kept.window;
  window.hands = {between(0.25, 4.0), chance()};
  window.view.round_field = chance();
  window.view.show_touched = chance();
  window.technical = chance(), window.full_screen = chance(), window.plots = chance(), window.contacts = chance();
  window.volume = between(0.0, 1.0), window.pulse = chance();
  window.ghost = static_cast<GhostMode>(random() % 3);
  if (chance()) window.field_of_view_deg = between(20.0, 120.0);
  if (chance()) window.barrel = between(0.0, 0.3);
  if (chance()) window.quality = static_cast<Quality>(random() % 3);
  kept.last = {chance() ? "/a folder/größe \\ x.toml" : "", int(random() % 9) + 1, chance() ? "scan" : "auto"};
  return kept;
}

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }
std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Names of files may have any bytes but 0 and the slash.
TEST(SettingsFile, ASceneOfAnyNameIsRemembered) {
  std::string bytes = "/";
  for (int byte = 1; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const std::string& name : {bytes, std::string("/caf\xe9.toml"), std::string("/\xef\x9e\x80\xef\x9f\xbf.toml")}) {
    KeptSettings kept;
    kept.last.scene = name;
    EXPECT_EQ(read_settings(kAbsentFile, settings_text(kept)).last.scene.string(), name);
  }
}

TEST(SettingsFile, WhatIsWrittenIsRead) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int k = 0; k < 200; ++k) {
    const KeptSettings kept = random_settings(random);
    const KeptSettings found = read_settings(kAbsentFile, settings_text(kept));
    EXPECT_EQ(settings_text(found), settings_text(kept));
    EXPECT_EQ(found.window.hands.speed, kept.window.hands.speed);
    EXPECT_EQ(found.window.technical, kept.window.technical);
    EXPECT_EQ(found.window.field_of_view_deg, kept.window.field_of_view_deg);
    EXPECT_EQ(found.window.ghost, kept.window.ghost);
    EXPECT_EQ(found.window.volume, kept.window.volume);
    EXPECT_EQ(found.window.quality, kept.window.quality);
    EXPECT_EQ(found.last.scene, kept.last.scene);
  }
}

TEST(SettingsFile, MissingKeysKeepTheDefaults) {
  const KeptSettings found = read_settings(kAbsentFile, "");
  EXPECT_EQ(settings_text(found), settings_text({}));
  EXPECT_FALSE(found.window.technical);
  EXPECT_FALSE(found.window.view.show_touched);
  EXPECT_TRUE(found.window.view.whole_field);
}

TEST(SettingsFile, RefusesWithFileLineAndRemedy) {
  for (const char* text :
       {"mouse_sensitivity = 9", "quality = \"best\"", "ghost = \"yes\"", "volume = 2", "[last]\nbackend = \"magic\"",
        "[last]\nlevel = 0", "[last]\nperson = \"a/b\"", "colour = 1", "technical = 3", "barrel = nan"})
    try {
      read_settings("window.toml", text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("window.toml:"), std::string::npos) << error.what();
    }
}

TEST(SettingsKeeper, KeepsForTheNextStart) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "new folder" / "window.toml";
  KeptSettings kept;
  {
    SettingsKeeper keeper(file);
    EXPECT_EQ(keeper.fault(), "");
    keeper.keep(keeper.at_start());
    EXPECT_FALSE(std::filesystem::exists(file)) << "nothing has changed";
    kept.window.technical = true;
    kept.last.level = 2;
    keeper.keep(kept);
    EXPECT_EQ(keeper.fault(), "");
  }
  const SettingsKeeper again(file);
  EXPECT_EQ(settings_text(again.at_start()), settings_text(kept));
}

TEST(SettingsKeeper, LeavesADamagedFileAlone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "window.toml";
  write(file, "mouse_sensitivity = \"fast\"\n");
  SettingsKeeper keeper(file);
  EXPECT_NE(keeper.fault().find("window.toml:1"), std::string::npos) << keeper.fault();
  EXPECT_EQ(settings_text(keeper.at_start()), settings_text({}));
  KeptSettings kept;
  kept.window.plots = true;
  keeper.keep(kept);
  EXPECT_EQ(read(file), "mouse_sensitivity = \"fast\"\n");
}

TEST(SettingsKeeper, SaysWhenTheFolderCannotBeWritten) {
  const TemporaryFolder folder;
  write(folder.path() / "file", "");
  SettingsKeeper keeper(folder.path() / "file" / "window.toml");
  KeptSettings kept;
  kept.window.plots = true;
  keeper.keep(kept);
  EXPECT_NE(keeper.fault(), "");
}

}  // namespace
}  // namespace trocar
