// Collects the faces that a library reports by bounding boxes, and decides them with our own exact clip, so that all
// methods answer the same query.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar::bench {

class Candidates {
 public:
  void clear() { listed_.clear(); }
  void offer(std::uint32_t face) { listed_.push_back(face); }

  void settle(const MeshView& mesh, const ToolVolume& tool) {
    std::sort(listed_.begin(), listed_.end());
    listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
    std::erase_if(listed_, [&](std::uint32_t face) {
      return !face_touches_volume(triangle_of(mesh.positions, mesh.faces[face]), tool);
    });
  }

  std::vector<FaceId> faces() const {
    std::vector<FaceId> faces;
    for (const std::uint32_t face : listed_) faces.push_back(FaceId{face});
    return faces;
  }

 private:
  std::vector<std::uint32_t> listed_;
};

}  // namespace trocar::bench
