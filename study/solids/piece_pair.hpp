// Compares two posed hierarchies of convex pieces: computes their distance and closest points, or their penetration
// depth. Pairs of nodes farther apart than the best pair so far are skipped, by bounding spheres, then by the hulls;
// every pair of nodes keeps its closest features from frame to frame. Source: Bergeret 2000, 6.2. Units: metres,
// world.   Checked against all pairs of pieces and of triangles in tests/study/solids_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_body.hpp"
#include "cpu_collision/solids/convex_pieces.hpp"
#include "geometry/frame.hpp"

namespace trocar::solids {

// Computes the penetration depth of two convex bodies (the shortest translation that separates them) by separating
// axes. Only pairs of edges whose arcs of normals cross are tried, since only they bound the Minkowski difference of
// the two bodies. Source: Bergeret 2000, 4.5.4 (separating axes); arcs: Gregorius, "The separating axis test between
// convex polyhedra", GDC 2013. We differ: sheets, segments and points try all pairs of edges. Cost: O(faces x vertices
// + edges x edges).
struct Penetration {
  // m. After a move of the second body by depth * normal the two bodies touch. Negative for two solid bodies that are
  // apart: the slab between them across the normal is then -depth thick. Sheets, segments and points must overlap.
  double depth = 0.0;
  glm::dvec3 normal{0.0, 0.0, 1.0};  // unit, from the first body to the second
  glm::dvec3 on_first, on_second;    // m    on the surfaces, `depth` apart along the normal, to a millionth of the size
};

// Computes the penetration. Allocates nothing.
Penetration penetration(const ConvexBody& first, const RigidFrame& first_pose, const ConvexBody& second,
                        const RigidFrame& second_pose);

struct PieceDistance {
  bool overlapping = false;
  double distance = 0.0;             // m    0 when overlapping
  double depth = 0.0;                // m    of the deepest pair of pieces; 0 when apart
  glm::dvec3 normal{0.0, 0.0, 1.0};  // unit, from first to second: separating direction of the closest or deepest pair
  glm::dvec3 on_first, on_second;    // m    closest points; when overlapping those of the deepest pair
  std::uint32_t first_node = 0, second_node = 0;  // the pieces
  int hull_tests = 0, steps = 0;                  // 1    closest_features() calls, and features they moved to
};

// Keep one object for each pair of instruments. The pieces must outlive the object.
class PiecePair {
 public:
  PiecePair(const ConvexPieces& first, const ConvexPieces& second);  // [node of first x node of second] features

  // Computes the distance at these poses. Allocates nothing.
  PieceDistance distance(const RigidFrame& first, const RigidFrame& second);

 private:
  struct Nodes {
    std::uint32_t first, second;
  };
  FeatureDistance test(const Nodes& nodes);
  double sphere_gap(const Nodes& nodes) const;
  void compare_leaves(const Nodes& nodes);
  void push_children(const Nodes& nodes);
  bool passed_over(double gap) const { return gap > 0.0 && gap >= answer_.distance; }

  const ConvexPieces &first_, &second_;
  std::vector<FeaturePair> features_;  // [node of first x node of second]
  std::vector<Nodes> open_;
  RigidFrame at_first_, at_second_;
  Nodes last_{0, 0};  // the pair of pieces that was closest
  PieceDistance answer_;
};

}  // namespace trocar::solids
