// Tells which marks on organs have lost their tissue: no face of the surface at rest contains the mark any more.
// Sessions and recordings compute it from the same faces, with the same result. Units: metres, rest space.
// Tested in tests/sim/task_parts_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"
#include "sim/session/surface_marks.hpp"

namespace trocar {

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
