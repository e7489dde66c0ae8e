// The interactive session: a window, the mouse or the haptic stub in the hand, the scope's view and the overlay.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "app/scene/scene.hpp"

namespace trocar {

struct InteractiveOptions {
  std::string backend;                   // empty: the scene's
  bool check = true;                     // every frame with obb-refit
  std::size_t frames = 0;                // 0: until the window is closed
  bool record = false;                   // from the first frame
  std::filesystem::path folder = "out";  // for recordings and pictures
  std::filesystem::path picture;         // of the last frame, overlay included; empty: none
  int width = 1280, height = 720;        // pixels
};

// Returns false, with the reason in `why`, when there is no display. Errors: InputError, RunError.
bool run_interactive(const Scene& scene, const InteractiveOptions& options, std::string& why);

}  // namespace trocar
