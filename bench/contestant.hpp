// Defines the interface behind which the bench runs each method for finding touched faces, ours and those of other
// libraries. The bench times update() and query(), but not the set-up and the copy of the answer. Every method gets the
// same positions and tools, uses one core, and answers the `volume` set.
// Units: metres.
#pragma once

#include <cstdint>
#include <functional>
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

// Our backends that this machine can run; the others are reported on stderr. Owns the OpenGL context.
class OwnBackends {
 public:
  OwnBackends();
  ~OwnBackends();
  std::vector<Entry> entries();
  std::string gl_description() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns an empty list if the library was not found when the bench was configured.
std::vector<Entry> fcl_entries();
std::vector<Entry> embree_entries();
std::vector<Entry> bullet_entries();

}  // namespace trocar::bench
