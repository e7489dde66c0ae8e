// Holds the settings of appearance and input; none changes scoring, nor what a recording says. settings_file.hpp keeps
// them.
#pragma once

#include <optional>

#include "app/view/view.hpp"
#include "app/window/ghost.hpp"
#include "app/window/input/hands.hpp"

namespace trocar {

struct WindowSettings {
  HandSettings hands;
  ViewSettings view{.show_touched = false, .whole_field = true};
  std::optional<double> field_of_view_deg;  // deg  20..120; empty: the scene's
  std::optional<double> barrel;             // 1    0..0.3; empty: the scene's
  std::optional<Quality> quality;           //      empty: automatic
  bool technical = false;                   //      the overlay of backend, checks and forces; false: that of a trainee
  bool full_screen = false;
  bool plots = false, contacts = false;  // panels
  double volume = 0.6;                   // 1    0..1, of the sound
  bool pulse = true;                     //      is heard while a session runs
  GhostMode ghost = GhostMode::Off;      // the expert's, in practice
  bool pack = true;                      //      recordings are packed when their session has ended
};

}  // namespace trocar
