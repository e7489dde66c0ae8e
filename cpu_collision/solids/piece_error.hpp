// How far a convex piece bulges out of the surface it stands for: the largest distance to the surface of a point on the
// piece's faces that is not inside the surface. Sampled, on a grid of each face. Units: metres.   Checked in
// tests/cpu_collision/solids_convex_pieces_test.cpp
#pragma once

#include <vector>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/mesh_view.hpp"
#include "mesh/face_tree.hpp"

namespace trocar::solids {

class PieceError {
 public:
  // The mesh must outlive this.
  explicit PieceError(const MeshView& mesh);

  // m. 0 for a body without faces.
  double bulge(const ConvexBody& body) const;

 private:
  // A ball without surface in it, around a point inside: all of it is inside.
  struct Ball {
    glm::dvec3 centre;
    double radius;  // m
  };
  double outside_by(const glm::dvec3& point, double best, std::vector<Ball>& inside) const;

  MeshView mesh_;
  FaceTree tree_;
  double spacing_;  // m    of the samples
};

}  // namespace trocar::solids
