// Measures how deep burnt holes reach into an organ: the largest distance of a vertex of their walls from the surface
// at rest. Scanned organs overlap their neighbours at rest; tissue inside a neighbour is not counted, and its surface
// bounds the organ there.   Units: metres.   Tested in tests/sim/burn_watch_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/mesh_view.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

class BurnWatch {
 public:
  // Surfaces at rest, unburnt. `neighbours`: the other organs; closed.
  BurnWatch(const MeshView& organ, std::span<const MeshView> neighbours);

  // Adds the vertices of new walls. m, at rest
  void add(std::span<const glm::vec3> walls);
  double deepest() const { return deepest_; }

 private:
  // A surface, and a tree that refers to it.
  struct Solid {
    explicit Solid(const MeshView& mesh);
    std::unique_ptr<TriangleMesh> surface;
    std::unique_ptr<SurfaceTree> tree;
    solids::SolidBox box;
  };
  double depth_of(const glm::vec3& p) const;

  std::vector<Solid> solids_;  // the organ, then its neighbours
  double deepest_ = 0.0;
};

}  // namespace trocar
