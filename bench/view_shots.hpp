// The pictures that the view is measured on and looked at: our own liver and stomach, instruments, marks.
// Units: metres.
#pragma once

#include <string>
#include <vector>

#include "app/view/view.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::bench {

// Two organs that can tremble, so that every picture has new positions.
class ShotOrgans {
 public:
  explicit ShotOrgans(int liver_faces);
  // Every vertex a few micrometres from rest, another place for each `frame`; nothing allocates.
  void tremble(int frame);
  std::span<const DrawnOrgan> drawn() const { return drawn_; }
  std::size_t faces() const;
  // Where a ray through this place of the pinhole picture (half heights) meets the organs, to within an edge.
  glm::vec3 on_surface(const ScopePose& scope, const glm::dvec2& place) const;

 private:
  TriangleMesh meshes_[2];
  std::vector<glm::vec3> moved_[2];
  std::vector<DrawnOrgan> drawn_;
};

struct Shot {
  std::string name;
  ScopePose scope;
  Lens lens;
  std::vector<DrawnTool> tools;
  std::vector<glm::vec3> path;     // [point] m
  std::vector<glm::dvec2> corner;  // half heights
  DrawnMarks marks;                // borrows from the two above
  double seconds = 0.0;            // drawn at 30 Hz for so long before the picture is taken

  Shot() = default;
  Shot(Shot&&) = default;  // vectors keep their storage, so the marks' spans stay good
};

// [0] is the one that is measured: two instruments and marks.
std::vector<Shot> make_shots(const ShotOrgans& organs);

}  // namespace trocar::bench
