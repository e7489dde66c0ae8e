// Makes the pictures on which the view is measured and inspected: our own liver and stomach, instruments, marks.
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
  // Moves every vertex a few micrometres from rest, differently for each `frame`; allocates nothing.
  void tremble(int frame);
  std::span<const DrawnOrgan> drawn() const { return drawn_; }
  std::size_t faces() const;
  // Returns the point where a ray through this position of the pinhole picture (half heights) meets the organs, within
  // an edge.
  glm::vec3 on_surface(const ScopePose& scope, const glm::dvec2& position) const;

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
  double seconds = 0.0;            // time that is drawn at 30 Hz before the picture is saved

  Shot() = default;
  Shot(Shot&&) = default;  // vectors keep their storage, so the marks' spans stay valid
};

// [0] is the measured one: two instruments and marks.
std::vector<Shot> make_shots(const ShotOrgans& organs);

}  // namespace trocar::bench
