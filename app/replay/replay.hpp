// Repeats the touch queries of a recording with the recorded tools and surfaces, and compares the answers with the
// recorded ones; supplies the frames of a recording as the input of a comparison.   Tested in tests/app/replay_test.cpp
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/compare/backends.hpp"
#include "app/compare/frame_source.hpp"
#include "sim/hdf5/recording.hpp"

namespace trocar {

// Throws InputError when the file is not a recording.
std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file);

struct ReplayResult {
  std::size_t touches = 0;           // recorded touches of the shafts
  std::size_t tip_touches = 0;       // recorded touches of the tips that were replayed
  std::size_t rebuilds = 0;          // surface changes for which the backend was rebuilt
  std::size_t differing_frames = 0;  // frames whose touched faces differ from the recorded ones
  std::string not_replayed;          // one sentence when the tips are not replayed; empty: everything is
};

// The touches of the shafts depend on recorded data only. The shapes of the tips belong to the model: for a recording
// of another model version they are not replayed, and ReplayResult::not_replayed says so. Calls `progress` with the
// number of finished frames. Throws InputError when the backend cannot be created or cannot load an organ; RunError
// when a query fails.
ReplayResult replay(const Recording& recording, const std::string& backend, Backends& backends,
                    const std::function<void(std::size_t)>& progress);

}  // namespace trocar
