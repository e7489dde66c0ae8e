// Holds the settings of appearance and input; none changes recording or scoring. They last until the program ends.
#pragma once

#include <optional>

#include "app/view/view.hpp"
#include "app/window/hands.hpp"

namespace trocar {

struct WindowSettings {
  HandSettings hands;
  ViewSettings view;
  std::optional<double> field_of_view_deg;  // deg  20..120; empty: the scene's
  std::optional<double> barrel;             // 1    0..0.3; empty: the scene's
  std::optional<Quality> quality;           //      empty: automatic
  bool plots = false, contacts = false;     // panels
};

}  // namespace trocar
