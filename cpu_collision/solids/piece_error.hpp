// Measures the one-sided Hausdorff distance from a convex piece to its surface: the largest distance to the surface of
// a point on the piece's faces that is outside the surface. The points form a grid on each face. Units:
// metres.   Checked in tests/cpu_collision/solids_convex_pieces_test.cpp
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

  // Returns the distance, m; 0 for a body without faces.
  double deviation(const ConvexBody& body) const;

 private:
  // A ball around an inside point that the surface does not enter: all of it is inside.
  struct Ball {
    glm::dvec3 centre;
    double radius;  // m
  };
  double outside_by(const glm::dvec3& point, double best, std::vector<Ball>& inside) const;

  MeshView mesh_;
  FaceTree tree_;
  double spacing_;  // m    between samples
};

}  // namespace trocar::solids
