// Reads the frames of a recording: each organ's surface as it was at the touch query of the frame, and the volumes of
// the tools. Units: metres.   Tested in tests/app/replay_test.cpp
#pragma once

#include <vector>

#include "sim/device/tool_shape.hpp"
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

// The instruments of a recording, frame by frame. A recording of an earlier model of the tissue (kModelVersion below 2)
// has instruments of one capsule, which ends at the tip. The recording must outlive this object.
class RecordedTools {
 public:
  // Throws InputError when the recording does not say what its instruments are.
  explicit RecordedTools(const Recording& recording);

  void load(std::size_t frame);
  // Returns the volumes of the loaded frame.
  FrameVolumes volumes() const { return {volumes_, part_of_volume_, parts_}; }
  // Returns false for an earlier model.
  bool by_parts() const { return !bodies_.empty(); }

 private:
  const Recording* recording_;
  std::vector<InstrumentBody> bodies_;  // [tool]
  PartTable parts_;
  std::vector<ToolVolume> volumes_;
  std::vector<std::uint32_t> part_of_volume_;
};

}  // namespace trocar
