#include "sim/session/tip_touch.hpp"

#include <algorithm>

namespace trocar {
namespace {

// One-sided Hausdorff distance allowed from the hulls to the drawn parts.
constexpr solids::PieceParams kPieces{.largest_deviation = 4e-4, .most_pieces = 8};
constexpr double kMargin = 2e-6;        // m     for rounding
constexpr double kShortestAxis = 1e-3;  // m
constexpr int kApertures = 32;

double distance_to_axis(const glm::dvec3& p, double length) {
  return glm::distance(p, glm::dvec3(0.0, 0.0, std::clamp(p.z, 0.0, length)));
}

solids::RigidPose stand(const TipStance& stance, const ToolPart& part, const JointLimits& limits) {
  return solids::rigid_pose(part_pose(stance.pose, stance.roll_deg, stance.grip, part, limits));
}

}  // namespace

TipTouch::TipTouch(InstrumentKind kind, double radius, const JointLimits& limits) : limits_(limits) {
  for (ToolPart& shape : tip_parts(kind, radius)) {
    auto pieces = std::make_unique<solids::ConvexPieces>(solids::convex_pieces(shape.mesh.view(), kPieces));
    const solids::ConvexPieces& kept = *pieces;
    length_ = std::max({length_, shape.hinge_z, kShortestAxis});
    parts_.push_back({std::move(shape), std::move(pieces), solids::PieceFaces(kept)});
  }
  // Opens the tip step by step in the frame of the tool: its end at the origin, +z towards the trocar.
  for (int step = 0; step <= kApertures; ++step) {
    const TipStance stance{{{0.0, 0.0, 0.3}, {0.0, 0.0, radius}, radius}, 0.0, static_cast<double>(step) / kApertures};
    for (const Part& part : parts_) {
      const solids::RigidPose pose = stand(stance, part.shape, limits_);
      for (const glm::vec3& corner : part.shape.mesh.positions)
        reach_ = std::max(reach_, distance_to_axis(pose.to_world(glm::dvec3(corner)), length_));
    }
  }
  // Between two steps a corner moves on an arc; the pieces extend beyond the corners.
  reach_ += deviation() + kMargin + 0.01 * length_;
}

ToolVolume TipTouch::around(const TipStance& stance) const {
  const glm::dvec3 back = glm::normalize(stance.pose.pivot - stance.pose.tip);
  const glm::dvec3 end = stance.pose.tip - stance.pose.radius * back;
  const ToolPose capsule{end + length_ * back, end, reach_};
  return frame_volume(nullptr, capsule, ToolMode::Static, Cover::Capsule, TouchSet::Exact);
}

std::span<const FaceId> TipTouch::touched(const TipStance& stance, const MeshView& mesh,
                                          std::span<const Touch> candidates) {
  candidates_.clear();
  touched_.clear();
  for (const Touch& candidate : candidates) candidates_.push_back(candidate.face);
  for (Part& part : parts_) {
    const auto faces = part.faces.touched(stand(stance, part.shape, limits_), mesh, candidates_);
    touched_.insert(touched_.end(), faces.begin(), faces.end());
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  return touched_;
}

std::size_t TipTouch::pieces() const {
  std::size_t sum = 0;
  for (const Part& part : parts_) sum += part.pieces->pieces();
  return sum;
}

double TipTouch::deviation() const {
  double most = 0.0;
  for (const Part& part : parts_) most = std::max(most, part.pieces->deviation());
  return most;
}

}  // namespace trocar
