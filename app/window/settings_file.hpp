// Keeps the window's settings and the last choice of the start screen for the next start, in window.toml of the user's
// settings folder (docs/file-formats.md). Tested in tests/app/settings_file_test.cpp
#pragma once

#include <filesystem>
#include <string>

#include "app/window/settings.hpp"

namespace trocar {

// What was chosen on the start screen last. The person is not kept: the next one at the station may be another.
struct LastChoice {
  std::filesystem::path scene;  // empty: the first one
  int level = 1;                // of its task, 1..9
  std::string backend = "auto";
};

struct KeptSettings {
  WindowSettings window;
  LastChoice last;
};

// Returns window.toml of the user's settings folder. Throws InputError when there is no home folder.
std::filesystem::path settings_file();

// Writes the settings as TOML; read_settings() of the text gives the same settings.
std::string settings_text(const KeptSettings& kept);
// Reads settings. `file`: for error messages. Throws InputError with file, line and remedy.
KeptSettings read_settings(const std::filesystem::path& file, const std::string& text);

// A settings file of which one program keeps the present text. A file that cannot be read stays as it is.
class SettingsKeeper {
 public:
  // Reads the file; without a file the settings are the defaults.
  explicit SettingsKeeper(std::filesystem::path file);

  const KeptSettings& at_start() const { return at_start_; }
  // Returns why the settings are not kept, one sentence; empty: they are.
  const std::string& fault() const { return fault_; }
  // Writes the settings when they have changed.
  void keep(const KeptSettings& kept);

 private:
  std::filesystem::path file_;
  KeptSettings at_start_;
  std::string text_, fault_;
};

}  // namespace trocar
