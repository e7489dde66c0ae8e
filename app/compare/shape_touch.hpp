// An instrument's own shape against an organ at rest: which faces it touches, pose by pose, and how deep its tip is.
// The shape is one mesh or more (two jaws, say), taken as convex pieces; a tree over the organ's faces gives the
// candidates. Units: metres.   Tested in tests/app/shape_touch_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/input/trajectory.hpp"
#include "cpu_collision/solids/piece_faces.hpp"
#include "cpu_collision/solids/tip_depth.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Where a shape stands whose file has the tip towards +z and `reach` as its largest z, m: the tip at the row's tip, the
// shaft towards its pivot, rolled as the row says.
solids::RigidPose shape_pose(const TrajectoryRow& row, double reach);

class ShapeTouch {
 public:
  // `organ` must outlive this. Load-time work: seconds for a jaw of a thousand faces. Error: InputError for a shape
  // without faces.
  ShapeTouch(const TriangleMesh& organ, std::span<const TriangleMesh> shapes, const solids::PieceParams& params);

  std::size_t pieces() const;
  double bulge() const;  // m, the most that a piece stands off its shape

  // Faces that share a point with a piece, sorted. Borrowed until the next call; allocates only to grow.
  std::span<const FaceId> touched(const TrajectoryRow& row);
  solids::TipDepth tip_depth(const TrajectoryRow& row);

 private:
  struct Part {
    std::unique_ptr<solids::ConvexPieces> pieces;
    solids::PieceFaces faces;
  };

  const TriangleMesh& organ_;
  solids::SolidBox box_;
  double reach_;  // m, largest z of the shapes
  std::unique_ptr<SurfaceTree> tree_;
  std::vector<Part> parts_;
  std::vector<FaceId> candidates_, touched_;
};

}  // namespace trocar
