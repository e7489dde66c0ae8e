// What the settings panel changes: how things look and feel, never what is recorded or scored. Nothing of it outlives
// the program.
#pragma once

#include <optional>

#include "app/view/view.hpp"
#include "app/window/hands.hpp"

namespace trocar {

struct WindowSettings {
  HandSettings hands;
  ViewSettings view;
  std::optional<double> field_of_view_deg;  // deg  20..120; nothing: the scene's
  std::optional<double> barrel;             // 1    0..0.3; nothing: the scene's
  std::optional<Quality> quality;           //      nothing: as time allows
  bool plots = false, contacts = false;     // panels
};

}  // namespace trocar
