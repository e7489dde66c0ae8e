#include "cpu_collision/solids/piece_faces.hpp"

namespace trocar::solids {
namespace {

bool boxes_apart(const ConvexBody& a, const ConvexBody& b) {
  return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::lessThan(b.high, a.low));
}

}  // namespace

PieceFaces::PieceFaces(const ConvexPieces& pieces)
    : pieces_(pieces),
      face_(triangle_body({glm::dvec3(0.0), glm::dvec3(0.0), glm::dvec3(0.0)})),
      features_(pieces.nodes.size()) {
  open_.reserve(pieces.nodes.size() + 1);
}

PieceFaces::Box PieceFaces::box(const RigidFrame& pose) const {
  const ConvexBody& root = pieces_.nodes[0].hull;
  const glm::dvec3 middle = pose.to_world(0.5 * (root.low + root.high)), half = 0.5 * (root.high - root.low);
  const glm::dvec3 half_box =
      glm::abs(pose.axes[0]) * half.x + glm::abs(pose.axes[1]) * half.y + glm::abs(pose.axes[2]) * half.z;
  return {middle - half_box, middle + half_box};
}

bool PieceFaces::any_piece_touches() {
  open_.clear();
  open_.push_back(0);
  while (!open_.empty()) {
    const std::uint32_t at = open_.back();
    open_.pop_back();
    const PieceNode& node = pieces_.nodes[at];
    if (boxes_apart(node.hull, face_)) continue;
    if (!node.leaf()) {
      open_.push_back(node.child[0]);
      open_.push_back(node.child[1]);
      continue;
    }
    features_[at].second = {};  // the face differs from the last one: only the piece's own feature is a good start
    if (closest_features(node.hull, {}, face_, {}, features_[at]).overlapping) return true;
  }
  return false;
}

bool PieceFaces::touches(const RigidFrame& pose, const Triangle& face) {
  reset_triangle(face_, {pose.to_local(face.a), pose.to_local(face.b), pose.to_local(face.c)});
  return any_piece_touches();
}

std::span<const FaceId> PieceFaces::touched(const RigidFrame& pose, const MeshView& mesh,
                                            std::span<const FaceId> candidates) {
  touched_.clear();
  for (const FaceId face : candidates) {
    if (touches(pose, triangle_of(mesh.positions, mesh.faces[index(face)]))) touched_.push_back(face);
  }
  return touched_;
}

std::span<const FaceId> PieceFaces::touched(const RigidFrame& pose, const MeshView& mesh) {
  touched_.clear();
  for (std::uint32_t face = 0; face < mesh.faces.size(); ++face) {
    if (touches(pose, triangle_of(mesh.positions, mesh.faces[face]))) touched_.push_back(FaceId(face));
  }
  return touched_;
}

}  // namespace trocar::solids
