// Builds a binary space partition of a triangle mesh at rest. Every node is a plane and holds the faces in that plane.
// Every other face goes to the side on which it lies; a face that lies on both sides is cut in two. Source: section 5
// of the game-engine report (BSP trees); Naylor, Amanatides, Thibault, "Merging BSP trees yields polyhedral set
// operations", SIGGRAPH 1990 (a leaf is inside or outside). We differ: face planes alone degenerate to a list on a
// convex surface, which lies wholly behind each of them (depth = faces on a ball). So axis-aligned planes through the
// median halve the faces first, and face planes divide the small cells, each the best of some candidates by faces cut
// and balance. Units: metres. Arrays: positions [vertex], faces [face]. Tested in tests/study/trees_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct BspParams {
  std::uint32_t cell_faces = 16;    // 1  face planes divide cells of at most this many pieces; >= 1
  std::uint32_t candidates = 2;     // 1  planes of faces tried at a node, >= 1
  std::uint32_t cuts_per_face = 4;  // 1  budget: this many cuts per face + 16; a cell over its share stays unsplit
};

// Child of a node that is a leaf.
enum class BspLeaf : std::uint32_t { Outside = 0xfffffff0u, Inside, Unknown };
// Returns whether a node's child is a BspLeaf.
constexpr bool is_leaf(std::uint32_t child) { return child >= static_cast<std::uint32_t>(BspLeaf::Outside); }

struct BspNode {
  glm::dvec4 plane;            // n.x + w >= 0: front; n of unit length. n = 0: an unsplit leaf
  std::uint32_t front, back;   // nodes, or a BspLeaf
  std::uint32_t first, count;  // into faces: those in the plane; of an unsplit leaf those in its cell
};

struct BspTree {
  std::vector<BspNode> nodes;        // [node] root first; empty: no faces
  std::vector<std::uint32_t> faces;  // a face that was cut is listed at several nodes, once per piece at each
  double tolerance = 0.0;            // m  a point this close to a plane is in it
  std::uint32_t root = static_cast<std::uint32_t>(BspLeaf::Unknown);
  // Statistics of the build.
  std::size_t cuts = 0, depth = 0, unsplit_leaves = 0;
};

// Piece of a face: a convex polygon.
struct BspPiece {
  std::uint32_t face, first, count;  // corners are points[first] .. [first + count)
  glm::dvec3 low, high;              // m  bounding box
};

// Scratch buffers of a build, kept between builds so that repeated builds do not allocate.
struct BspScratch {
  std::vector<BspPiece> pieces;
  std::vector<glm::dvec3> points;       // m
  std::vector<glm::dvec4> face_planes;  // [face]; 0 for a face without area
  std::vector<std::uint32_t> lists;     // a stack of lists of pieces
  std::vector<std::uint32_t> aside;
  std::vector<double> middles;
};

// Builds the tree. Each face is listed at every node and unsplit leaf whose cell it overlaps, so no face is lost.
void build_bsp_tree(const MeshView& mesh, const BspParams& params, BspScratch& scratch, BspTree& tree);

// Queries a BSP tree of a mesh at rest for the faces that a segment meets, front to back, and for the side on which a
// point lies. Source: section 5 of the game-engine report; the walk from front to back is that of Fuchs, Kedem, Naylor,
// "On visible surface generation by a priori tree structures", SIGGRAPH 1980.
struct SegmentMeeting {
  FaceId face;
  double t;  // 1  where on the segment, 0 .. 1, the face is first met
};

// Returns where the segment first comes within `tolerance` of the face, also when it lies in the face's plane. Faces
// without area count as lines.
std::optional<double> first_meeting(const glm::dvec3& from, const glm::dvec3& to, const Triangle& face,
                                    double tolerance);

class BspSolid {
 public:
  // The view must outlive the object.
  explicit BspSolid(const MeshView& mesh, const BspParams& params = {});

  // Returns all faces that the closed segment meets, [meeting], by t, then by face. Valid until the next query.
  std::span<const SegmentMeeting> crossed(const glm::dvec3& from, const glm::dvec3& to);
  // Returns the first face that the segment meets.
  std::optional<SegmentMeeting> first_crossed(const glm::dvec3& from, const glm::dvec3& to);
  // Decides where the point lies, for a closed surface with outward faces. Uses the winding number in an unsplit leaf,
  // and where the tree cannot decide.
  solids::PointLocation locate(const glm::dvec3& point) const;

  const BspTree& tree() const { return tree_; }  // of the positions at construction

 private:
  struct Stretch {
    std::uint32_t node;
    double from, to;
  };
  void walk(const glm::dvec3& from, const glm::dvec3& to, bool only_first);
  void meet_faces(const BspNode& node, const glm::dvec3& from, const glm::dvec3& to);
  bool on_a_face(const BspNode& node, const glm::dvec3& point) const;
  std::optional<solids::PointLocation> locate_below(std::uint32_t node, const glm::dvec3& point) const;

  MeshView mesh_;
  BspTree tree_;
  std::vector<std::uint32_t> asked_;  // [face] the last query that tested it
  std::uint32_t question_ = 0;
  std::vector<Stretch> waiting_;
  std::vector<SegmentMeeting> meetings_;
  double nearest_ = 0.0;  // smallest t of this query
};

// Makes the backend `bsp`, which finds the faces that a convex tool volume touches by a binary space partition. At each
// node the volume's corners show which sides it overlaps; if both, the faces in the plane are tested. A BSP cannot be
// refitted, so update() rebuilds it: 55 ms for a liver of 31,000 faces on a Xeon. A mesh at rest needs no update().

std::unique_ptr<TouchQuery> make_bsp_query();

}  // namespace trocar
