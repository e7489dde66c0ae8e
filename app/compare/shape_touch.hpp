// Finds, for each pose of an instrument, the faces of an organ at rest that its shape touches, and the depth of its
// tip.
// The shape consists of one or several meshes (two jaws, for example), which are decomposed into convex pieces. A tree
// over the organ's faces finds the candidate faces. Units: metres.   Tested in tests/app/compare_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cpu_collision/solids/convex_pieces.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/device/trajectory.hpp"

namespace trocar {

// Returns the pose of a shape whose file has the tip towards +z and `tip_z` (m) as its largest z: the shape's tip is at
// the row's tip, its shaft points to the row's pivot, and it has the row's roll.
RigidFrame shape_pose(const TrajectoryRow& row, double tip_z);

class ShapeTouch {
 public:
  // `organ` must outlive this object. Decomposes the shapes: seconds for a jaw of a thousand faces. Throws InputError
  // for a shape without faces, or for parameters outside their limits.
  ShapeTouch(const TriangleMesh& organ, std::span<const TriangleMesh> shapes, const solids::PieceParams& params);

  std::size_t pieces() const;
  double deviation() const;  // m, largest one-sided Hausdorff distance of a piece from its shape

  // Returns the faces that share a point with a piece, sorted. Valid until the next call; allocates only when buffers
  // must grow.
  std::span<const FaceId> touched(const TrajectoryRow& row);
  solids::TipDepth tip_depth(const TrajectoryRow& row);

 private:
  struct Part {
    std::unique_ptr<solids::ConvexPieces> pieces;
    solids::PieceFaces faces;
  };

  const TriangleMesh& organ_;
  solids::SolidBox box_;
  double tip_z_;  // m, largest z of the shapes
  std::unique_ptr<SurfaceTree> tree_;
  std::vector<Part> parts_;
  std::vector<FaceId> candidates_, touched_;
};

}  // namespace trocar
