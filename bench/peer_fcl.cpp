// Runs FCL 0.7 as a contestant: its bounding-volume trees over the triangles, rebuilt or refitted every frame, are
// queried with the tool volume as a convex shape. The answer is FCL's own (GJK per triangle).
#include <fcl/fcl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "bench/contestant.hpp"

namespace trocar::bench {
namespace {

enum class Upkeep { Rebuild, Refit };

template <typename BV>
class FclTree final : public Contestant {
 public:
  using S = typename BV::S;
  using Vec = fcl::Vector3<S>;

  explicit FclTree(Upkeep upkeep) : upkeep_(upkeep) {
    request_.num_max_contacts = std::numeric_limits<std::size_t>::max();
    request_.enable_contact = false;
    request_.gjk_solver_type = fcl::GST_INDEP;
  }

  void rebuild(const MeshView& mesh) override {
    points_.resize(mesh.positions.size());
    copy(mesh.positions);
    std::vector<fcl::Triangle> triangles;
    for (const glm::uvec3& face : mesh.faces) triangles.emplace_back(face.x, face.y, face.z);
    model_ = std::make_unique<fcl::BVHModel<BV>>();
    model_->beginModel(static_cast<int>(triangles.size()), static_cast<int>(points_.size()));
    model_->addSubModel(points_, triangles);
    model_->endModel();
  }

  void update(std::span<const glm::vec3> positions) override {
    copy(positions);
    model_->beginReplaceModel();
    model_->replaceSubModel(points_);
    model_->endReplaceModel(upkeep_ == Upkeep::Refit, true);
  }

  void query(const ToolVolume& tool) override {
    const fcl::Convex<S> convex = convex_of(tool);
    fcl::Transform3<S> here = fcl::Transform3<S>::Identity();
    result_.clear();
    if constexpr (std::is_same_v<BV, fcl::AABB<S>>) {
      // This does the same as fcl::collide(), but does not copy the whole tree, as fcl::collide() does for boxes that
      // do not rotate.
      fcl::detail::GJKSolver_indep<S> solver;
      fcl::detail::MeshShapeCollisionTraversalNode<BV, fcl::Convex<S>, fcl::detail::GJKSolver_indep<S>> node;
      fcl::detail::initialize(node, *model_, here, convex, here, &solver, request_, result_);
      fcl::detail::collide(&node);
    } else {
      fcl::collide(model_.get(), here, &convex, here, request_, result_);
    }
  }

  std::vector<FaceId> answer() const override {
    std::vector<FaceId> faces;
    for (std::size_t i = 0; i < result_.numContacts(); ++i)
      faces.push_back(FaceId{static_cast<std::uint32_t>(result_.getContact(i).b1)});
    std::sort(faces.begin(), faces.end());
    return faces;
  }

 private:
  void copy(std::span<const glm::vec3> positions) {
    for (std::size_t v = 0; v < positions.size(); ++v) points_[v] = Vec(positions[v].x, positions[v].y, positions[v].z);
  }

  static fcl::Convex<S> convex_of(const ToolVolume& tool) {
    const Polytope polytope = polytope_of(tool);
    auto corners = std::make_shared<std::vector<Vec>>();
    for (const glm::dvec3& c : polytope.corners) corners->push_back(Vec(S(c.x), S(c.y), S(c.z)));
    auto faces = std::make_shared<std::vector<int>>();
    for (const std::vector<int>& face : polytope.faces) {
      faces->push_back(static_cast<int>(face.size()));
      faces->insert(faces->end(), face.begin(), face.end());
    }
    return fcl::Convex<S>(corners, static_cast<int>(polytope.faces.size()), faces);
  }

  Upkeep upkeep_;
  std::vector<Vec> points_;
  std::unique_ptr<fcl::BVHModel<BV>> model_;
  fcl::CollisionRequest<S> request_;
  fcl::CollisionResult<S> result_;
};

template <typename BV>
Entry entry(std::string name, std::string how, Upkeep upkeep) {
  return {std::move(name), true, std::move(how) + "; convex shape, GJK",
          [=] { return std::make_unique<FclTree<BV>>(upkeep); }};
}

}  // namespace

std::vector<Entry> fcl_entries() {
  return {entry<fcl::OBBRSSd>("fcl_obbrss_rebuild", "OBBRSS tree rebuilt", Upkeep::Rebuild),
          entry<fcl::RSSd>("fcl_rss_rebuild", "RSS tree rebuilt", Upkeep::Rebuild),
          entry<fcl::kIOSd>("fcl_kios_rebuild", "kIOS tree rebuilt", Upkeep::Rebuild),
          entry<fcl::AABBd>("fcl_aabb_rebuild", "AABB tree rebuilt", Upkeep::Rebuild),
          entry<fcl::AABBd>("fcl_aabb_refit", "AABB tree refitted bottom-up", Upkeep::Refit),
          entry<fcl::AABBf>("fcl_aabb_refit_float", "AABB tree in float refitted bottom-up", Upkeep::Refit)};
}

}  // namespace trocar::bench
