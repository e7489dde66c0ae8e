// Runs Bullet 3 as a contestant: its triangle-mesh tree, refitted or rebuilt every frame, is queried with a box cast
// along the shaft. The bare refit calls btOptimizedBvh like btBvhTriangleMeshShape does, but without that shape's
// second pass over all triangles for its own bounds: only the tree's refit is timed.
#include <BulletCollision/CollisionShapes/btBvhTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btOptimizedBvh.h>
#include <BulletCollision/CollisionShapes/btTriangleIndexVertexArray.h>

#include <cstring>
#include <optional>

#include "bench/contestant.hpp"

namespace trocar::bench {
namespace {

struct Collector final : btNodeOverlapCallback {
  explicit Collector(Candidates& candidates) : candidates(candidates) {}
  void processNode(int, int triangle) override { candidates.offer(static_cast<std::uint32_t>(triangle)); }
  Candidates& candidates;
};

btVector3 bullet(const glm::vec3& v) { return {v.x, v.y, v.z}; }

constexpr bool kQuantized = true;

enum class Upkeep { Rebuild, Refit, BareRefit };

class BulletTree final : public Contestant {
 public:
  explicit BulletTree(Upkeep upkeep) : upkeep_(upkeep) {}

  void rebuild(const MeshView& mesh) override {
    positions_.assign(mesh.positions.begin(), mesh.positions.end());
    faces_.assign(mesh.faces.begin(), mesh.faces.end());
    triangles_.emplace(static_cast<int>(faces_.size()), reinterpret_cast<int*>(faces_.data()),
                       static_cast<int>(sizeof(glm::uvec3)), static_cast<int>(positions_.size()),
                       reinterpret_cast<btScalar*>(positions_.data()), static_cast<int>(sizeof(glm::vec3)));
    build();
  }

  void update(std::span<const glm::vec3> positions) override {
    std::memcpy(positions_.data(), positions.data(), positions.size_bytes());
    if (upkeep_ == Upkeep::Rebuild) {
      build();
      return;
    }
    const auto [low, high] = bounds();
    if (upkeep_ == Upkeep::Refit)
      shape_->refitTree(bullet(low), bullet(high));
    else
      shape_->getOptimizedBvh()->refit(&*triangles_, bullet(low), bullet(high));
  }

  void query(const ToolVolume& tool) override {
    candidates_.clear();
    Collector collector(candidates_);
    const SweptBox box = swept_box_around(polytope_of(tool), tool);
    shape_->getOptimizedBvh()->reportBoxCastOverlappingNodex(&collector, bullet(box.from), bullet(box.to),
                                                             bullet(-box.half), bullet(box.half));
    candidates_.decide({positions_, faces_}, tool);
  }

  std::vector<FaceId> answer() const override { return candidates_.faces(); }

 private:
  void build() {
    const auto [low, high] = bounds();
    shape_.emplace(&*triangles_, kQuantized, bullet(low), bullet(high));
  }

  std::pair<glm::vec3, glm::vec3> bounds() const {
    glm::vec3 low = positions_[0], high = low;
    for (const glm::vec3& position : positions_) {
      low = glm::min(low, position);
      high = glm::max(high, position);
    }
    return {low, high};
  }

  Upkeep upkeep_;
  std::vector<glm::vec3> positions_;
  std::vector<glm::uvec3> faces_;
  std::optional<btTriangleIndexVertexArray> triangles_;
  std::optional<btBvhTriangleMeshShape> shape_;
  Candidates candidates_;
};

Entry entry(std::string name, std::string how, Upkeep upkeep) {
  return {std::move(name), true, std::move(how) + "; box cast, our clip",
          [=] { return std::make_unique<BulletTree>(upkeep); }};
}

}  // namespace

std::vector<Entry> bullet_entries() {
  return {entry("bullet_refit", "btBvhTriangleMeshShape refitted", Upkeep::Refit),
          entry("bullet_bare_refit", "its btOptimizedBvh alone refitted", Upkeep::BareRefit),
          entry("bullet_rebuild", "btBvhTriangleMeshShape rebuilt", Upkeep::Rebuild)};
}

}  // namespace trocar::bench
