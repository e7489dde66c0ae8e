// Decomposes a concave surface into a hierarchy of convex pieces: planes cut the surface until the hull of each part is
// close to it. Leaves are the pieces; an inner node holds the hull of its part before the cut. The union of the leaves
// contains every face of the surface, and the whole interior of a closed surface. Source: Bergeret 2000, 6.2 (concave
// objects as a hierarchy of convex pieces); planar cuts: Lien and Amato, "Approximate convex decomposition", 2006. We
// differ: the cut minimises the volume of the two hulls, and the error is measured on the hulls' faces. Open and dirty
// surfaces are accepted as they are. Units: metres. Arrays of a mesh: positions [vertex], faces [face].   Cover and
// error on the shared instruments are tested in tests/cpu_collision/convex_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/mesh_view.hpp"
#include "mesh/face_tree.hpp"

namespace trocar::solids {

struct PieceParams {
  double largest_deviation =
      3e-4;              // m    pieces with a larger one-sided Hausdorff distance to the surface are cut; > 0
  int most_pieces = 16;  // 1    cutting stops at this number; 1 .. 256
};

struct PieceNode {
  static constexpr std::uint32_t kNone = 0xffffffffu;
  ConvexBody hull;
  std::uint32_t child[2] = {kNone, kNone};
  double deviation = 0.0;  // m    one-sided Hausdorff distance from the hull's faces to the solid, sampled; 0 inside it
  bool leaf() const { return child[0] == kNone; }  // a piece
};

struct ConvexPieces {
  std::vector<PieceNode> nodes;                                  // [node] root first
  std::size_t pieces() const { return (nodes.size() + 1) / 2; }  // leaves: an inner node has two children
  double deviation() const;                                      // m    largest over the leaves
};

// Decomposes the mesh. This is work for load time: it takes 0.1 to 10 s for a thousand faces. Throws InputError when
// the mesh has no faces, a coordinate is not finite or a parameter is out of range.
ConvexPieces convex_pieces(const MeshView& mesh, const PieceParams& params = {});

// A part of a surface, with its own vertices.
struct CutMesh {
  std::vector<glm::vec3> positions;                     // [vertex] m
  std::vector<glm::uvec3> faces;                        // [face] vertices
  MeshView view() const { return {positions, faces}; }  // valid until they change
};
// Returns the part of the surface with normal . x >= offset, triangles cut along the plane, new corners rounded to
// float. Both sides of one plane get the same new corners. Example: an instrument's tip without its shaft.
CutMesh part_beyond(const MeshView& mesh, const glm::dvec3& normal, double offset);

// Measures the one-sided Hausdorff distance from a convex piece to its surface: the largest distance to the surface of
// a point on the piece's faces that is outside the surface. The points form a grid on each face.
class PieceError {
 public:
  // The mesh must outlive this and have a face.
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

// Finds the faces of an organ that the posed convex pieces of an instrument (a jaw, for example) touch. The caller
// supplies the candidate faces, for example from a tree; each is decided exactly by a walk to the closest features of
// face and piece. Source: Bergeret 2000, 6.2.

// Keep one object for each instrument. The pieces must outlive the object.
class PieceFaces {
 public:
  // `pieces`: of convex_pieces(), at least one.
  explicit PieceFaces(const ConvexPieces& pieces);

  // Box around the pieces at this pose, world: the region to query in a tree or a broad phase.
  struct Box {
    glm::dvec3 low, high;  // m
  };
  Box box(const RigidFrame& pose) const;  // around the root hull's own box, turned

  // Returns whether any piece shares a point with the face.
  bool touches(const RigidFrame& pose, const Triangle& face);
  // Returns the touched ones of `candidates`, in their order. The span is valid until the next call; allocates only to
  // grow.
  std::span<const FaceId> touched(const RigidFrame& pose, const MeshView& mesh, std::span<const FaceId> candidates);
  // Tests all faces: the slow baseline. Ascending.
  std::span<const FaceId> touched(const RigidFrame& pose, const MeshView& mesh);

 private:
  bool any_piece_touches();

  const ConvexPieces& pieces_;
  ConvexBody face_;                    // in the pieces' frame
  std::vector<FeaturePair> features_;  // [node] where the last walk of this piece ended
  std::vector<std::uint32_t> open_;
  std::vector<FaceId> touched_;
};

}  // namespace trocar::solids
