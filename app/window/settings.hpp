// The settings of appearance and input, and the file that keeps them and the last choice of the start screen for the
// next start: window.toml of the user's settings folder (docs/file-formats.md). None changes scoring, nor what a
// recording says; who holds the camera moves the scope.   Tested in tests/app/window_test.cpp
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/view/view.hpp"
#include "app/window/input/hands.hpp"

namespace trocar {

// How the expert's ghost is shown (ghost.hpp).
enum class GhostMode { Off, InTime, ByProgress };
const char* name_of(GhostMode mode);  // "off", "in time", "by progress"
GhostMode next(GhostMode mode);

struct WindowSettings {
  HandSettings hands;
  HandsBy hands_by = HandsBy::Mouse;
  CameraBy camera = CameraBy::Trainee;
  std::string second_mouse;  //      its number or part of its name; empty: the last one
  bool lens_fogs = false;    //      in free practice; attempts: the scene says so
  ViewSettings view{.show_touched = false, .whole_field = true};
  std::optional<double> field_of_view_deg;  // deg  20..120; empty: the scene's
  std::optional<double> barrel;             // 1    0..0.3; empty: the scene's
  std::optional<Quality> quality;           //      empty: automatic
  double letters = 1.0;                     // 1    size of letters and controls, 1..1.5
  std::string language = {};                //      code of the catalogue; empty: as the system says
  bool technical = false;                   //      the overlay of backend, checks and forces; false: that of a trainee
  bool full_screen = false;
  bool plots = false, contacts = false;  // panels
  double volume = 0.6;                   // 1    0..1, of the sound
  bool pulse = true;                     //      is heard while a session runs
  bool captions = false;                 //      a line for each sound
  GhostMode ghost = GhostMode::Off;      // the expert's, in practice
  bool lesson_offered = false;           //      the first lesson was begun or declined
  bool pack = true;                      //      recordings are packed when their session has ended
};

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
