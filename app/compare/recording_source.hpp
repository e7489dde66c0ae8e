// The frames of a recording as input for a comparison: every organ's surface as it was when the tools were asked about.
#pragma once

#include <filesystem>
#include <memory>

#include "app/compare/frame_source.hpp"
#include "app/record/recording.hpp"

namespace trocar {

// Error: InputError when the file is no recording.
std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file);

// Volumes of every tool in one frame of a recording. [tool]
void recorded_volumes(const Recording& recording, std::size_t frame, TouchSet set, std::vector<ToolVolume>& volumes);

}  // namespace trocar
