// Attaches points to an organ's surface, so that a task's targets follow the tissue as it moves.
// Units: metres.   Tested in tests/sim/session/session_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// A point attached to an organ's surface: vertices of a face and their weights, which sum to 1.
struct SurfaceMark {
  std::uint32_t organ = 0;
  glm::uvec3 vertex{0};
  glm::vec3 weight{1.f, 0.f, 0.f};
};

// Returns the surface point nearest to `point`. This is work for load time: it builds a tree over every face.
SurfaceMark nearest_mark(std::uint32_t organ, const MeshView& surface, const glm::vec3& point);

// Does the same for many points.
std::vector<SurfaceMark> nearest_marks(std::uint32_t organ, const MeshView& surface, std::span<const glm::vec3> points);

// Returns the position of a mark. Sessions and recordings use the same arithmetic: bit-identical results.
inline glm::vec3 position_of(const SurfaceMark& mark, std::span<const glm::vec3> positions) {
  return mark.weight.x * positions[mark.vertex.x] + mark.weight.y * positions[mark.vertex.y] +
         mark.weight.z * positions[mark.vertex.z];
}

// Names the points that organs hide from the scope in a frame; a recording keeps it, so that scores need no surfaces.
// Computed by sim/session/sight_watch.hpp   Tested in tests/sim/session/sight_watch_test.cpp

// Points after the 32nd count as visible. Recordings before format 2.10 hide nothing.
struct HiddenPoints {
  static constexpr std::size_t kMost = 32;
  std::uint32_t tips = 0, marks = 0;  // bit k: the tip of instrument k, the mark k

  bool tip(std::size_t tool) const { return tool < kMost && (tips >> tool & 1u) != 0; }
  bool mark(std::size_t mark) const { return mark < kMost && (marks >> mark & 1u) != 0; }
  bool operator==(const HiddenPoints&) const = default;
};

// Tells which marks on organs have lost their tissue: no face of the surface at rest contains the mark any more.
// Sessions and recordings compute it from the same faces, with the same result. Units: metres, rest space.
// Tested in tests/sim/task/task_run_test.cpp
class MarkWatch {
 public:
  MarkWatch() = default;
  explicit MarkWatch(std::span<const SurfaceMark> marks);

  // Looks at an organ's faces: call at first and when they have changed. A removed mark stays removed.
  void look(std::uint32_t organ, const MeshView& at_rest, std::span<const FaceId> ids);
  // Starts again, before looking at an earlier frame.
  void rewind();

  std::span<const std::uint8_t> removed() const { return removed_; }  // [mark] 1: its tissue was removed

 private:
  struct Watched {
    glm::vec3 at{0.f};  // m
    FaceId face{0};     // that contained the mark at the last look
    bool found = false;
  };
  void search(const MeshView& at_rest, std::span<const FaceId> ids);

  std::vector<SurfaceMark> marks_;
  std::vector<Watched> watched_;        // [mark]
  std::vector<std::uint32_t> missing_;  // marks whose face was removed, in a look
  std::vector<std::uint8_t> removed_;   // [mark]
};

}  // namespace trocar
