// The frames of a recording as input for a comparison: every organ's surface as it was when the tools were asked about.
#pragma once

#include <filesystem>
#include <memory>

#include "app/compare/frame_source.hpp"
#include "app/record/recording.hpp"

namespace trocar {

// One organ of a recording, frame by frame: its faces, where its vertices were, what was touched. The recording must
// outlive it.
class RecordedOrganFrames {
 public:
  // The surface as of the first frame; no frame is loaded yet.
  RecordedOrganFrames(const Recording& recording, std::size_t organ);

  // Any order; forward costs only what changed. True when faces or number of vertices are not those of before.
  bool load(std::size_t frame);
  MeshView mesh() const { return {positions_, surface_.faces}; }  // of the loaded frame
  const OrganSurface& surface() const { return surface_; }        // of the loaded frame: face of a slot, rest shape
  const OrganFrame& frame() const { return frame_; }              // of the loaded frame: touches by id

 private:
  const Recording* recording_;
  std::size_t organ_;
  OrganSurface surface_;
  OrganFrame frame_;
  std::vector<glm::vec3> positions_;  // [vertex] m
};

// Error: InputError when the file is no recording.
std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file);

// Volumes of every tool in one frame of a recording. [tool]
void recorded_volumes(const Recording& recording, std::size_t frame, TouchSet set, std::vector<ToolVolume>& volumes);

}  // namespace trocar
