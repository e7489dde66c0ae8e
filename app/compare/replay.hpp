// A recording asked about again: every frame's tools, every frame's surfaces, the answers beside the recorded ones.
// Tested in tests/app/replay_test.cpp
#pragma once

#include <functional>
#include <string>

#include "app/backend/backends.hpp"
#include "app/record/recording.hpp"

namespace trocar {

struct ReplayResult {
  std::size_t touches = 0;           // recorded, of the shafts
  std::size_t tip_touches = 0;       // recorded, of the tips
  std::size_t rebuilds = 0;          // changes of an organ's faces that the backend followed
  std::size_t differing_frames = 0;  // whose touched faces are not those recorded
};

// Progress is told how many frames are done. Error: InputError when the backend cannot be made.
ReplayResult replay(const Recording& recording, const std::string& backend, Backends& backends,
                    const std::function<void(std::size_t)>& progress);

}  // namespace trocar
