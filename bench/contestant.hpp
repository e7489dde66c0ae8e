// Defines the interface behind which the bench runs each method for finding touched faces, ours and those of other
// libraries. The bench times update() and query(), but not the set-up and the copy of the answer. Every method gets the
// same positions and tools, uses one core, and answers the `volume` set.
// Units: metres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar::bench {

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual void rebuild(const MeshView& mesh) = 0;
  virtual void update(std::span<const glm::vec3> positions) = 0;
  virtual void query(const ToolVolume& tool) = 0;
  virtual std::vector<FaceId> answer() const = 0;  // of the last query, sorted
};

struct Entry {
  std::string name;   // "scan", "fcl_obbrss_rebuild"
  bool peer = false;  // another library
  std::string how;    // work per frame, one phrase
  std::function<std::unique_ptr<Contestant>()> make;
};

// Other libraries; each function is defined where its library was found when the bench was configured.
std::vector<Entry> fcl_entries();
std::vector<Entry> embree_entries();
std::vector<Entry> bullet_entries();

// Collects the faces that a library reports by bounding boxes, and decides them with our own exact clip, so that all
// methods answer the same query.

class Candidates {
 public:
  void clear() { listed_.clear(); }
  void offer(std::uint32_t face) { listed_.push_back(face); }

  void decide(const MeshView& mesh, const ToolVolume& tool) {
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

// Converts a convex tool volume to the forms that other libraries' queries need: corners and faces, boxes and balls
// along the shaft, one box swept along it. Each form contains the whole volume.

struct Polytope {
  std::vector<glm::dvec3> corners;
  std::vector<std::vector<int>> faces;  // corner numbers, counter-clockwise seen from outside
};

// Merges corners closer than a nanometre. The volume must be bounded.
Polytope polytope_of(const ToolVolume& tool);

struct Piece {
  glm::vec3 low, high;  // m, bounds of one slice of the volume across the shaft
  glm::vec3 centre() const { return 0.5f * (low + high); }
  float radius() const { return 0.5f * glm::length(high - low); }  // ball around the bounds
};

// Fills one piece per element of `pieces`.
void slice(const Polytope& polytope, const ToolVolume& tool, std::span<Piece> pieces);

struct SweptBox {
  glm::vec3 from, to;  // m, the box's centre
  glm::vec3 half;      // m, its half size
};
SweptBox swept_box_around(const Polytope& polytope, const ToolVolume& tool);

}  // namespace trocar::bench
