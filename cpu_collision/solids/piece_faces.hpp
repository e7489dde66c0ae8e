// Finds the faces of an organ that the posed convex pieces of an instrument (a jaw, for example) touch. The caller
// supplies the candidate faces, for example from a tree; each is decided exactly by a walk to the closest features of
// face and piece.
// Source: thesis 6.2. Units: metres, world.   Checked against separating axes and all pairs of triangles in
// tests/cpu_collision/solids_piece_faces_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_pieces.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar::solids {

// Keep one object for each instrument. The pieces must outlive the object.
class PieceFaces {
 public:
  explicit PieceFaces(const ConvexPieces& pieces);

  // Box around the pieces at this pose, world: the region to query in a tree or a broad phase.
  struct Box {
    glm::dvec3 low, high;  // m
  };
  Box box(const RigidFrame& pose) const;

  // Returns whether any piece shares a point with the face.
  bool touches(const RigidFrame& pose, const Triangle& face);
  // Returns the touched ones of `candidates`, in their order. The span is valid until the next call; allocates only to
  // grow.
  std::span<const FaceId> touched(const RigidFrame& pose, const MeshView& mesh, std::span<const FaceId> candidates);
  // Tests all faces: the slow baseline.
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
