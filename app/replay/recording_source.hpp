// Supplies the frames of a recording as the input of a comparison.
// Tested in tests/app/replay_test.cpp
#pragma once

#include <filesystem>
#include <memory>

#include "app/compare/frame_source.hpp"

namespace trocar {

// Throws InputError when the file is not a recording.
std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file);

}  // namespace trocar
