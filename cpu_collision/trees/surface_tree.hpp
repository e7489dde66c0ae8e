// One organ's faces in a tree of bounding volumes of a chosen kind: the touch query, and every other question a tree
// answers: what a segment crosses, what a ray hits first, which point is closest, which pairs of faces of two meshes
// cross, now or on the way to the next frame.
// Units: metres.   Tested in tests/cpu_collision/tree_query_test.cpp and tree_pairs_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpu_collision/trees/volume_tree.hpp"
#include "geometry/touch_query.hpp"

namespace trocar {

enum class TreeUpdate { Rebuild, Refit };

enum class VolumeKind { Aabb, Sphere, Obb, KDop6, KDop14, KDop18, KDop26, Quospo };

struct TreePlan {
  VolumeKind volume = VolumeKind::Aabb;
  SplitRule split = SplitRule::Mean;  // oriented volumes (Obb, Quospo) split at the mean along their own longest axis
  TreeUpdate update = TreeUpdate::Refit;
  std::uint32_t leaf_faces = kLeafFaces;  // 1  >= 1; one face, as in the thesis, tests the fewest pairs of faces
  bool tight = false;                     // volumes around all faces below: slower updates, fewer tests (fit.hpp)
};

// A plan by its name on the command line: VOLUME[:SPLIT][-refit], as "aabb-refit", "sphere:mean",
// "kdop14:middle-refit". Without a split the sphere tree is an octree, as in the thesis; the others split at the mean.
// Empty when it is none.
std::optional<TreePlan> tree_plan(std::string_view name);
// The names without a split, rebuilt and refitted, in the order tables show them.
const std::vector<std::string>& tree_names();

struct RayHit {
  FaceId face;
  double t;  // 1  where on the ray: origin + t * direction
};

struct SurfacePoint {
  FaceId face;
  glm::dvec3 point;  // m
  double distance;   // m
};

using FacePair = std::pair<std::uint32_t, std::uint32_t>;

// Pairs of faces in order; volume pairs tested and face pairs tested on the way.
struct PairAnswer {
  std::span<const FacePair> pairs;  // sorted; borrowed until the next call
  CostCounters cost;
};

// counters() are those of the last question. Answers are borrowed until the next question; none allocates once warm.
class SurfaceTree : public TouchQuery {
 public:
  // Faces that share a point with the closed segment, sorted.
  virtual std::span<const FaceId> crossed(const glm::dvec3& from, const glm::dvec3& to) = 0;
  // Faces whose volumes, and those of all above, the segment crosses: candidates for a test of the caller's, an exact
  // one for instance. Unsorted.
  virtual std::span<const FaceId> along(const glm::dvec3& from, const glm::dvec3& to) = 0;
  // The face that a ray from `origin` meets first. Empty when it meets none. `direction`: 1e-15 to 1e15 m long.
  virtual std::optional<RayHit> first_hit(const glm::dvec3& origin, const glm::dvec3& direction) = 0;
  // The face closest to `point`; the one with the lowest number of several. Empty for a mesh without faces, and when
  // none is closer than `within`.
  virtual std::optional<SurfacePoint> closest(const glm::dvec3& point, double within) = 0;
  // Faces whose volumes, and those of all above, hold the point: candidates of a question of the caller's. Unsorted.
  virtual std::span<const FaceId> around(const glm::dvec3& point) = 0;

  // Pairs (ours, other's) that share a point, touching included; decided exactly (solids/crossing_pairs.hpp). `other`:
  // over another mesh. Where it is of another kind of volume, a tree of ours is built over its faces first.
  virtual PairAnswer crossing(const SurfaceTree& other) = 0;
  // Pairs (lower, higher) of ours that share a point which their common corners do not explain; decided exactly
  // (mesh/self_crossing.hpp: faces without area cross nothing).
  virtual PairAnswer self_crossing() = 0;
  // Pairs (lower, higher) of ours without a common vertex that meet on the way from the positions of the last update to
  // `after`, every vertex on a straight line (motion_crossing.hpp). Conservative: none is missed. The next call must be
  // update() or rebuild().
  virtual PairAnswer self_crossing_on_the_way(std::span<const glm::vec3> after) = 0;

  virtual std::size_t node_count() const = 0;
  virtual MeshView mesh() const = 0;  // as of the last update; borrowed until the next
};

std::unique_ptr<SurfaceTree> make_surface_tree(const TreePlan& plan);

}  // namespace trocar
