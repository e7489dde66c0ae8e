// Reads the frames of a recording: each organ's surface as it was at the touch query of the frame, and the volumes of
// the tools. Units: metres.   Tested in tests/app/replay_test.cpp
#pragma once

#include <vector>

#include "sim/hdf5/recording.hpp"

namespace trocar {

// One organ of a recording, frame by frame: its faces, its vertex positions and its touches. The recording must outlive
// this object.
class RecordedOrganFrames {
 public:
  // Starts with the rest surface of the first frame; no frame is loaded yet.
  RecordedOrganFrames(const Recording& recording, std::size_t organ);

  // Loads a frame; any order is allowed, and forward steps only apply the changes. Returns true when the faces or the
  // number of vertices differ from before.
  bool load(std::size_t frame);
  MeshView mesh() const { return {positions_, surface_.faces}; }  // of the loaded frame
  const OrganSurface& surface() const { return surface_; }        // of the loaded frame: faces by slot, rest shape
  const OrganFrame& frame() const { return frame_; }              // of the loaded frame: touches by id

 private:
  const Recording* recording_;
  std::size_t organ_;
  OrganSurface surface_;
  OrganFrame frame_;
  std::vector<glm::vec3> positions_;  // [vertex] m
};

// Computes the volumes of all tools in one frame of a recording: `volumes` is [tool].
void recorded_volumes(const Recording& recording, std::size_t frame, TouchSet set, std::vector<ToolVolume>& volumes);

}  // namespace trocar
