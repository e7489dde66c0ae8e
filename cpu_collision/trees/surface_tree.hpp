// Stores the faces of one organ in a tree of bounding volumes of a chosen kind and answers queries on it: the touch
// query, the faces that a segment crosses, the first hit of a ray, the closest point, and the pairs of faces of two
// meshes that cross, now or during the motion to the next frame.
// Units: metres. Arrays: positions [vertex], faces [face], pairs [pair].   Tested in tests/study/trees_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu_collision/trees/volume_tree.hpp"
#include "geometry/touch.hpp"

namespace trocar {

enum class TreeUpdate { Rebuild, Refit };

class SurfaceTree;
struct TreePlan;

// A kind of bounding volume. Every room with trees lists its own kinds.
struct TreeVolume {
  std::string_view name;  // on the command line
  SplitRule split;        // default split, when the name of a plan has none
  bool oriented;          // splits at the mean along its own longest axis; allows no other split
  std::unique_ptr<SurfaceTree> (*make)(std::string name, const TreePlan& plan);
};

std::unique_ptr<SurfaceTree> make_aabb_tree(std::string name, const TreePlan& plan);      // empty; `name`: for name()
std::unique_ptr<SurfaceTree> make_obb_tree(std::string name, const TreePlan& plan);       // empty; `name`: for name()
inline constexpr TreeVolume kAabbVolume{"aabb", SplitRule::Mean, false, make_aabb_tree};  // axis-aligned boxes
inline constexpr TreeVolume kObbVolume{"obb", SplitRule::Mean, true, make_obb_tree};      // oriented boxes
inline constexpr TreeVolume kTreeVolumes[] = {kAabbVolume, kObbVolume};                   // of this room

struct TreePlan {
  const TreeVolume* volume = &kAabbVolume;
  SplitRule split = SplitRule::Mean;  // ignored by oriented volumes
  TreeUpdate update = TreeUpdate::Refit;
  std::uint32_t leaf_faces =
      kLeafFaces;      // 1  >= 1; one face, as in Bergeret 2000, gives the fewest tests of face pairs
  bool tight = false;  // volumes around all faces below: slower updates, fewer tests (volume_tree.hpp)
};

// Returns a plan from its name on the command line: VOLUME[:SPLIT][-refit], for example "aabb-refit",
// "aabb:middle-refit". Without a split it has the volume's default split. Empty for any other text. `volumes` must
// outlive the plan.
std::optional<TreePlan> tree_plan(std::string_view name, std::span<const TreeVolume> volumes = kTreeVolumes);

struct RayHit {
  FaceId face;
  double t;  // 1  parameter on the ray: origin + t * direction
};

struct SurfacePoint {
  FaceId face;
  glm::dvec3 point;  // m
  double distance;   // m
};

using FacePair = std::pair<std::uint32_t, std::uint32_t>;

// Pairs of faces in order, and the number of volume pairs and face pairs tested.
struct PairAnswer {
  std::span<const FacePair> pairs;  // sorted; valid until the next call
  CostCounters cost;
};

// counters() are those of the last query. Answers are valid until the next query. After the first calls none allocates.
class SurfaceTree : public TouchQuery {
 public:
  // Returns the faces that share a point with the closed segment, sorted.
  virtual std::span<const FaceId> crossed(const glm::dvec3& from, const glm::dvec3& to) = 0;
  // Returns the faces whose volumes, including all ancestors' volumes, the segment crosses: candidates for a test of
  // the caller, for example an exact one. Unsorted.
  virtual std::span<const FaceId> along(const glm::dvec3& from, const glm::dvec3& to) = 0;
  // Returns the first face that a ray from `origin` meets. Returns nothing when the ray meets none. `direction`: 1e-15
  // to 1e15 m long.
  virtual std::optional<RayHit> first_hit(const glm::dvec3& origin, const glm::dvec3& direction) = 0;
  // Returns the face closest to `point`; among equally close faces the one with the lowest number. Empty for a mesh
  // without faces, and when none is closer than `within`.
  virtual std::optional<SurfacePoint> closest(const glm::dvec3& point, double within) = 0;
  // Returns the faces whose volumes, including all ancestors' volumes, contain the point: candidates for the caller.
  // Unsorted.
  virtual std::span<const FaceId> around(const glm::dvec3& point) = 0;

  // Returns the pairs (ours, other's) that share a point, including touching pairs; decided exactly
  // (mesh/exact_sign.hpp). `other`: over another mesh. If its kind of volume differs, a tree of our kind is first
  // built over its faces.
  virtual PairAnswer crossing(const SurfaceTree& other) = 0;
  // Returns our pairs (lower, higher) that share a point other than their common vertices or edge; decided exactly
  // (mesh/exact_sign.hpp: faces without area cross nothing).
  virtual PairAnswer self_crossing() = 0;
  // Returns our pairs (lower, higher) without a common vertex that meet during the motion from the positions of the
  // last update to `after`, every vertex on a straight line (motion_crossing.hpp). Conservative: misses none. The next
  // call must be update() or rebuild().
  virtual PairAnswer self_crossing_on_the_way(std::span<const glm::vec3> after) = 0;

  virtual std::size_t node_count() const = 0;  // 0 without faces
  virtual MeshView mesh() const = 0;           // as of the last update; valid until the next
};

std::unique_ptr<SurfaceTree> make_surface_tree(const TreePlan& plan);  // empty: call rebuild()

}  // namespace trocar
